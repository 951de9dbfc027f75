//! Compiled code that this process holds open: read from the cache and verified, or compiled by this process.
//!
//! The code is held in sealed memory and not in its file, so that it stays as it was verified, whatever happens to the file. A
//! truncated file would also kill each process that touches the missing part of its mapping.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use parking_lot::Mutex;
use registry::Digest;
use tokio::process::Command;

use crate::Error;
use crate::sandbox::code::CodeCache;

/// Sealed memory for all code: ten images, or thousands of small components. Code is never evicted from it, since runners map
/// it for as long as they live. Further code is mapped from its file.
const MEMORY_BYTES_MAX: u64 = 512 << 20;
/// Open files of code beyond that memory.
const FILES_MAX: usize = 64;
/// `MFD_NOEXEC_SEAL` of Linux 6.3, which a kernel may require: the file cannot be executed as a program.
const NO_EXEC: MFdFlags = MFdFlags::from_bits_retain(8);

/// Open file of a component's code.
#[derive(Debug)]
pub struct NativeCode {
    file: File,
    bytes: u64,
    is_in_memory: bool,
}

/// All code that this process holds. Clones share the code.
#[derive(Clone)]
pub struct CodeStore(Arc<StoredCode>);

struct StoredCode {
    cache: CodeCache,
    held: Mutex<HeldCode>,
}

#[derive(Default)]
struct HeldCode {
    codes: HashMap<Digest, Arc<NativeCode>>,
    memory_bytes: u64,
}

impl CodeStore {
    /// Makes an empty store over a cache of compiled code.
    #[must_use]
    pub fn new(cache: CodeCache) -> Self {
        Self(Arc::new(StoredCode { cache, held: Mutex::default() }))
    }

    /// Returns a component's code, read from the cache on first use.
    ///
    /// # Errors
    /// `Internal` when this node never compiled the component, or the code does not verify.
    pub(crate) fn get(&self, digest: &Digest) -> Result<Arc<NativeCode>, Error> {
        if let Some(code) = self.find_held(digest) {
            return Ok(code);
        }
        let missing = || Error::internal(format!("{digest} is not compiled on this node"));
        Ok(self.hold(digest, self.read(digest).ok_or_else(missing)?))
    }

    /// Returns a component's code, if this process holds it.
    pub(crate) fn find_held(&self, digest: &Digest) -> Option<Arc<NativeCode>> {
        self.0.held.lock().codes.get(digest).cloned()
    }

    /// Reads a component's code from the cache, if it is there and verifies.
    pub(crate) fn read(&self, digest: &Digest) -> Option<NativeCode> {
        let (file, code) = self.0.cache.read(digest)?;
        Some(self.seal(&code).unwrap_or(NativeCode { file, bytes: code.len() as u64, is_in_memory: false }))
    }

    /// Holds newly compiled code and writes it to the cache for the next start. A failed write does not keep the code from
    /// running.
    ///
    /// # Errors
    /// When there is neither memory nor a file for the code.
    pub(crate) fn keep(&self, digest: &Digest, code: &[u8]) -> Result<Arc<NativeCode>, Error> {
        let kept = self.0.cache.keep(digest, code);
        if let Err(error) = &kept {
            tracing::warn!(%digest, %error, "compiled code cannot be written to the cache; the next start compiles it again");
        }
        let native = match self.seal(code) {
            Some(native) => native,
            None => {
                let path = kept?;
                let file = File::open(&path).map_err(|error| Error::cache(&path, &error))?;
                NativeCode { file, bytes: code.len() as u64, is_in_memory: false }
            }
        };
        Ok(self.hold(digest, native))
    }

    /// Reads a note.
    pub(crate) fn read_note(&self, name: &Digest) -> Option<Vec<u8>> {
        self.0.cache.open_notes().ok()?.get(name)
    }

    /// Writes a note. A failure is logged only.
    pub(crate) fn keep_note(&self, name: &Digest, note: &[u8]) {
        let kept = self.0.cache.open_notes().and_then(|notes| notes.keep(name, note));
        if let Err(error) = kept {
            tracing::warn!(%error, "a note about shared code cannot be written; related snapshots are compiled again");
        }
    }

    /// Opens another authenticated cache under the same key.
    pub(crate) fn open_cache_at(&self, directory: &Path) -> Result<CodeCache, Error> {
        self.0.cache.open_at(directory)
    }

    /// Removes code from the cache.
    pub(crate) fn forget(&self, digest: &Digest) {
        self.0.cache.remove(digest);
    }

    /// Holds code. Returns the code that is held already, if another call was faster.
    pub(crate) fn hold(&self, digest: &Digest, code: NativeCode) -> Arc<NativeCode> {
        self.0.held.lock().hold(digest, code)
    }

    fn seal(&self, code: &[u8]) -> Option<NativeCode> {
        let bytes = code.len() as u64;
        if self.0.held.lock().memory_bytes.saturating_add(bytes) > MEMORY_BYTES_MAX {
            return None;
        }
        let sealed = seal_file(code).inspect_err(|error| {
            tracing::warn!(%error, "no sealed memory can be made for compiled code; the code is mapped from its file");
        });
        Some(NativeCode { file: sealed.ok()?, bytes, is_in_memory: true })
    }
}

impl HeldCode {
    fn hold(&mut self, digest: &Digest, code: NativeCode) -> Arc<NativeCode> {
        if let Some(held) = self.codes.get(digest) {
            return held.clone();
        }
        if code.is_in_memory {
            self.memory_bytes += code.bytes;
        } else if self.codes.values().filter(|code| !code.is_in_memory).count() >= FILES_MAX {
            self.codes.retain(|_, code| code.is_in_memory);
        }
        let code = Arc::new(code);
        self.codes.insert(*digest, code.clone());
        code
    }
}

impl NativeCode {
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Duplicates the file's descriptor.
    ///
    /// # Errors
    /// When the process has too many descriptors.
    pub(crate) fn clone_descriptor(&self) -> io::Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned()
    }

    /// Passes the file to a child that has not been started, and returns the path of the file in the child.
    ///
    /// # Errors
    /// When the process has too many descriptors.
    pub fn pass_to(&self, child: &mut Command) -> io::Result<PathBuf> {
        let descriptor = self.clone_descriptor()?;
        let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
        let stay_open = move || Ok(fcntl(&descriptor, FcntlArg::F_SETFD(FdFlag::empty())).map(drop)?);
        // SAFETY: the closure makes one system call, which is safe between fork and exec.
        unsafe { child.pre_exec(stay_open) };
        Ok(path.into())
    }
}

/// Makes a file in memory with these bytes, which can never change.
fn seal_file(bytes: &[u8]) -> io::Result<File> {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let memory = match memfd_create(c"compiled code", flags | NO_EXEC) {
        Err(Errno::EINVAL) => memfd_create(c"compiled code", flags), // an older kernel
        created => created,
    };
    let mut file = File::from(memory?);
    file.write_all(bytes)?;
    let seals = SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    fn store() -> (CodeStore, CodeCache, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(directory.path(), [7; 32]).unwrap();
        (CodeStore::new(cache.clone()), cache, directory)
    }

    fn contents(code: &NativeCode) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(code.bytes).unwrap()];
        code.file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn held_code_never_changes() {
        let (codes, cache, _directory) = store();
        let digest = Digest::of(b"a component");
        let path = cache.keep(&digest, b"native code").unwrap();
        let code = codes.get(&digest).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(3).unwrap();
        assert_eq!(contents(&code), b"native code");
        assert_eq!(contents(&codes.get(&digest).unwrap()), b"native code");
        assert!(code.file.write_at(b"x", 0).is_err() && code.file.set_len(3).is_err(), "the file is sealed");
        assert!(CodeStore::new(cache).get(&digest).is_err(), "another process reads the truncated file");
    }

    #[test]
    fn code_beyond_the_memory_bound_stays_in_its_file() {
        let (codes, _cache, _directory) = store();
        codes.0.held.lock().memory_bytes = MEMORY_BYTES_MAX - 3;
        for number in 0..=FILES_MAX {
            let code = codes.keep(&Digest::of(&number.to_le_bytes()), b"native code").unwrap();
            assert!(!code.is_in_memory && contents(&code) == b"native code");
        }
        assert_eq!(codes.0.held.lock().codes.len(), 1, "open files are bounded");
        let small = codes.keep(&Digest::of(b"small"), b"ret").unwrap();
        assert!(small.is_in_memory && codes.0.held.lock().memory_bytes == MEMORY_BYTES_MAX);
    }

    #[test]
    fn code_that_cannot_be_written_runs_all_the_same() {
        let (codes, _cache, directory) = store();
        std::fs::remove_dir_all(directory.path()).unwrap();
        let code = codes.keep(&Digest::of(b"a component"), b"native code").unwrap();
        assert_eq!(contents(&code), b"native code");
    }
}
