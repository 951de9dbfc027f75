//! Artifacts in a directory, as the files `ab/<sha256>`.
//!
//! A file gets its name only after its bytes are flushed, and bytes that are read are compared with the digest. The time of a
//! file is that of its last publication ([`super::unused_files`]).

use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;

use crate::error::{Error, Result};
use crate::files::blocking::off_the_runtime;
use crate::files::durable::{
    add_path, create_private_folder, failure, make_temporary_name, sync_folder, write_private,
};
use crate::kit::digest::Digest;

/// A directory of artifacts; cheap to clone.
#[derive(Clone, Debug)]
pub struct ArtifactDirectory {
    root: PathBuf,
}

impl ArtifactDirectory {
    pub fn open(root: PathBuf) -> Result<Self> {
        create_private_folder(&root)?;
        Ok(Self::at(root))
    }

    /// A directory that may be absent.
    pub const fn at(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub async fn put(&self, digest: &Digest, bytes: impl AsRef<[u8]> + Send + 'static) -> Result<()> {
        let (path, digest) = (path_of(&self.root, digest), *digest);
        off_the_runtime(move || put(&path, &digest, bytes.as_ref())).await
    }

    pub async fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        let (path, digest) = (path_of(&self.root, digest), *digest);
        off_the_runtime(move || get(&path, &digest)).await
    }

    pub async fn renew(&self, digest: &Digest) -> Result<bool> {
        let path = path_of(&self.root, digest);
        off_the_runtime(move || renew(&path)).await
    }

    pub async fn contains(&self, digest: &Digest) -> Result<bool> {
        let path = path_of(&self.root, digest);
        off_the_runtime(move || add_path(&path, path.try_exists())).await
    }
}

pub fn path_of(root: &Path, digest: &Digest) -> PathBuf {
    let name = digest.to_hex();
    root.join(&name[..2]).join(name)
}

fn put(path: &Path, digest: &Digest, bytes: &[u8]) -> Result<()> {
    // A damaged file is replaced.
    if matches!(get(path, digest), Ok(Some(_))) && renew(path)? {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    create_private_folder(folder)?;
    let temporary = folder.join(make_temporary_name());
    write_private(&temporary, bytes)?;
    move_directory_aside(path)?;
    add_path(path, fs::rename(&temporary, path))?;
    sync_folder(folder)
}

/// Renews the time of a file by its path, so that a file that was moved aside meanwhile is missing.
fn renew(path: &Path) -> Result<bool> {
    let (now, follow) = (TimeSpec::UTIME_NOW, UtimensatFlags::FollowSymlink);
    match utimensat(AT_FDCWD, path, &now, &now, follow) {
        Ok(()) => Ok(true),
        Err(Errno::ENOENT) => Ok(false),
        Err(error) => Err(failure(path, error.into())),
    }
}

/// Renames a directory that has the name of an artifact: this program did not create it.
fn move_directory_aside(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Ok(());
    }
    let aside = path.with_extension(make_temporary_name());
    tracing::warn!(path = %path.display(), aside = %aside.display(), "a directory has the name of an artifact and was renamed");
    add_path(path, fs::rename(path, aside))
}

fn get(path: &Path, digest: &Digest) -> Result<Option<Vec<u8>>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure(path, error)),
    };
    if Digest::of(&bytes) != *digest {
        return Err(Error::Corrupt {
            what: "artifact",
            detail: format!("the contents of {} do not match its digest", path.display()),
        });
    }
    Ok(Some(bytes))
}
