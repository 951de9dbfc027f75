//! A directory of files that are authenticated with this node's key: compiled code, and what else must not be altered.
//!
//! Compiled code is native code, so a file that anyone else wrote must never be loaded. Each file has a keyed digest beside it.
//! A file that does not verify counts as missing, and is compiled again.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use nix::sys::stat::futimens;
use nix::sys::time::TimeSpec;
use registry::Digest;
use sha2::Sha256;

use crate::Error;

/// Version of the engine, and a counter. The counter changes with the engine's settings, with the format of code files, and
/// when `structure.rs` refuses more than before, since cached components are not checked again.
const FORMAT: &str = "48.0.8-2";

/// An authenticated cache directory.
#[derive(Debug, Clone)]
pub struct CodeCache {
    directory: PathBuf,
    key: [u8; 32],
}

impl CodeCache {
    /// Opens the directory of this release; creates it with access for this user only.
    ///
    /// # Errors
    /// When the directory cannot be created, or another user may write to it.
    pub fn open(cache_dir: &Path, key: [u8; 32]) -> Result<Self, Error> {
        let directory = cache_dir.join("compiled").join(FORMAT);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory)
            .map_err(|error| Error::cache(&directory, &error))?;
        let metadata = fs::metadata(&directory).map_err(|error| Error::cache(&directory, &error))?;
        if metadata.uid() != nix::unistd::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
            let other = io::Error::other("another user owns it or may write to it");
            return Err(Error::cache(&directory, &other));
        }
        Ok(Self { directory, key })
    }

    /// Returns the path of a component's code, if the file exists and verifies.
    #[must_use]
    pub fn find(&self, digest: &Digest) -> Option<PathBuf> {
        self.read(digest).map(|_| self.path(digest))
    }

    /// Reads a component's code and its file, if the file exists and verifies, and marks it as used now. A file that does not
    /// verify is logged.
    pub(crate) fn read(&self, digest: &Digest) -> Option<(fs::File, Vec<u8>)> {
        let verified = self.read_verified(digest).unwrap_or_else(|problem| {
            tracing::warn!(%digest, %problem, "compiled code is damaged and is not used");
            None
        });
        let (file, code) = verified?;
        if let Err(error) = futimens(&file, &TimeSpec::UTIME_NOW, &TimeSpec::UTIME_NOW) {
            tracing::debug!(%digest, %error, "a cached file cannot be marked as used, and may be evicted early");
        }
        Some((file, code))
    }

    fn read_verified(&self, digest: &Digest) -> io::Result<Option<(fs::File, Vec<u8>)>> {
        let path = self.path(digest);
        let mut file = match fs::File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut code = Vec::new();
        file.read_to_end(&mut code)?;
        let mac = fs::read(path.with_extension("mac"))?;
        let does_not_verify = |_| io::Error::other("its keyed digest does not match");
        self.compute_mac(digest, &code).verify_slice(&mac).map_err(does_not_verify)?;
        Ok(Some((file, code)))
    }

    /// Opens another directory under the same key.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub(crate) fn open_at(&self, directory: &Path) -> Result<Self, Error> {
        Self::open(directory, self.key)
    }

    /// Opens the directory for notes about the files of this one.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub(crate) fn open_notes(&self) -> Result<Self, Error> {
        self.open_at(&self.directory.join("notes"))
    }

    /// Reads a file, if it exists and verifies, and marks it as used now.
    #[must_use]
    pub fn get(&self, name: &Digest) -> Option<Vec<u8>> {
        self.read(name).map(|(_, bytes)| bytes)
    }

    /// Returns the names of all files but the most recently used ones.
    #[must_use]
    pub fn beyond(&self, kept: usize) -> Vec<Digest> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let of = |entry: fs::DirEntry| {
            let name = entry.file_name().to_str()?.strip_suffix(".cwasm")?.to_owned();
            Some((entry.metadata().ok()?.modified().ok()?, Digest::parse(&format!("sha256:{name}")).ok()?))
        };
        let mut all: Vec<_> = entries.filter_map(of).collect();
        all.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        all.into_iter().skip(kept).map(|(_, name)| name).collect()
    }

    /// Removes a file.
    pub fn remove(&self, name: &Digest) {
        for path in [self.path(name).with_extension("mac"), self.path(name)] {
            drop(fs::remove_file(path)); // the file may not exist
        }
    }

    /// Writes a file, and its keyed digest after it.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn keep(&self, digest: &Digest, code: &[u8]) -> Result<PathBuf, Error> {
        let path = self.path(digest);
        let mac = self.compute_mac(digest, code).finalize().into_bytes();
        self.write(&path, code)?;
        self.write(&path.with_extension("mac"), &mac)?;
        Ok(path)
    }

    pub(crate) fn path(&self, digest: &Digest) -> PathBuf {
        self.directory.join(format!("{}.cwasm", digest.to_hex()))
    }

    fn compute_mac(&self, digest: &Digest, code: &[u8]) -> Hmac<Sha256> {
        // HMAC pads a short key with zeros to its block.
        let mut key = hmac::digest::Key::<Hmac<Sha256>>::default();
        key[..self.key.len()].copy_from_slice(&self.key);
        let mut mac = <Hmac<Sha256> as Mac>::new(&key);
        mac.update(digest.to_hex().as_bytes());
        mac.update(code);
        mac
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        let failed = |error: io::Error| Error::cache(path, &error);
        let temporary = path.with_extension(format!("{:016x}.tmp", rand::random::<u64>()));
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary).map_err(failed)?;
        let written = file.write_all(bytes).and_then(|()| replace(&temporary, path));
        if written.is_err() {
            drop(fs::remove_file(&temporary)); // frees space on a full disk
        }
        written.map_err(failed)
    }
}

/// Gives a file its name. Removes a directory of that name, which this program never makes.
fn replace(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::rename(temporary, path) {
        Err(_) if path.is_dir() => fs::remove_dir_all(path).and_then(|()| fs::rename(temporary, path)),
        renamed => renamed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> Digest {
        Digest::of(b"a component")
    }

    #[test]
    fn a_flipped_byte_is_never_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(directory.path(), [7; 32]).unwrap();
        let path = cache.keep(&digest(), b"native code").unwrap();
        assert_eq!(cache.find(&digest()), Some(path.clone()));
        fs::write(&path, b"native c0de").unwrap();
        assert_eq!(cache.find(&digest()), None);
    }

    #[test]
    fn another_key_or_another_digest_does_not_verify() {
        let directory = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(directory.path(), [7; 32]).unwrap();
        let path = cache.keep(&digest(), b"native code").unwrap();
        let other_key = CodeCache::open(directory.path(), [8; 32]).unwrap();
        assert_eq!(other_key.find(&digest()), None);
        let other = Digest::of(b"another component");
        fs::copy(&path, cache.path(&other)).unwrap();
        fs::copy(path.with_extension("mac"), cache.path(&other).with_extension("mac")).unwrap();
        assert_eq!(cache.find(&other), None);
    }

    #[test]
    fn recently_used_files_stay() {
        let directory = tempfile::tempdir().unwrap();
        let cache =
            CodeCache::open(directory.path(), [7; 32]).unwrap().open_at(&directory.path().join("more")).unwrap();
        let names = [b"one", b"two", b"six"].map(|name| Digest::of(name));
        for (age, name) in names.iter().enumerate() {
            let file = fs::File::options().write(true).open(cache.keep(name, b"kept").unwrap()).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(age as u64)).unwrap();
        }
        assert_eq!(cache.get(&names[0]).as_deref(), Some(&b"kept"[..]));
        assert_eq!(cache.beyond(2), [names[1]]);
        cache.remove(&names[1]);
        assert_eq!((cache.get(&names[1]), cache.beyond(2)), (None, vec![]));
        assert_eq!(cache.beyond(0).len(), 2);
    }

    #[test]
    fn a_directory_in_the_place_of_a_file_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(directory.path(), [7; 32]).unwrap();
        for path in [cache.path(&digest()), cache.path(&digest()).with_extension("mac")] {
            drop(fs::remove_file(&path));
            fs::create_dir_all(path.join("inside")).unwrap();
            assert_eq!(cache.find(&digest()), None);
            cache.keep(&digest(), b"native code").unwrap();
            assert!(cache.find(&digest()).is_some());
        }
    }
}
