//! Compiled code that verified or was made a moment ago, held for all who want it.
//!
//! It is held in sealed memory and not in its file. Whatever becomes of the file, what runs stays what was verified; and
//! a mapping whose file is cut short kills the process that meets its end.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use registry::Digest;
use tokio::process::Command;

use crate::Error;
use crate::cache::Compiled;

/// All code in memory together: ten images, or thousands of small components. It stays there, since runners map it for
/// as long as they live; what comes beyond is mapped from its file.
const MEMORY_BYTES_MAX: u64 = 512 << 20;
/// Files that stay open beside.
const FILES_MAX: usize = 64;
/// `MFD_NOEXEC_SEAL`: no program. Linux 6.3; a kernel may insist on it.
const NO_PROGRAM: MFdFlags = MFdFlags::from_bits_retain(8);

/// The code of a component, open.
#[derive(Debug)]
pub struct NativeCode {
    file: File,
    bytes: u64,
    is_in_memory: bool,
}

/// All code that this process holds. Clones are one.
#[derive(Clone)]
pub struct Codes(Arc<Shared>);

struct Shared {
    compiled: Compiled,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    codes: HashMap<Digest, Arc<NativeCode>>,
    memory_bytes: u64,
}

impl Codes {
    /// Over a cache of compiled code.
    #[must_use]
    pub fn new(compiled: Compiled) -> Self {
        Self(Arc::new(Shared { compiled, held: Mutex::default() }))
    }

    /// A component's code, read from the cache if need be.
    ///
    /// # Errors
    /// `Internal` when the component was never compiled here, or its code does not verify.
    pub(crate) fn get(&self, digest: &Digest) -> Result<Arc<NativeCode>, Error> {
        if let Some(code) = self.held(digest) {
            return Ok(code);
        }
        let missing = || Error::internal(format!("{digest} is not compiled on this node"));
        Ok(self.hold(digest, self.read(digest).ok_or_else(missing)?))
    }

    /// Whether this process has a component's code.
    pub(crate) fn holds(&self, digest: &Digest) -> bool {
        self.lock().codes.contains_key(digest)
    }

    /// A component's code, if this process has it.
    pub(crate) fn held(&self, digest: &Digest) -> Option<Arc<NativeCode>> {
        self.lock().codes.get(digest).cloned()
    }

    /// A component's code from the cache, if it is there and verifies.
    pub(crate) fn read(&self, digest: &Digest) -> Option<NativeCode> {
        let (file, code) = self.0.compiled.read(digest)?;
        Some(self.in_memory(&code).unwrap_or(NativeCode { file, bytes: code.len() as u64, is_in_memory: false }))
    }

    /// Takes code that was compiled a moment ago, and keeps it for the next start. It runs without, too.
    ///
    /// # Errors
    /// When there is neither memory nor a file for it.
    pub(crate) fn keep(&self, digest: &Digest, code: &[u8]) -> Result<Arc<NativeCode>, Error> {
        let kept = self.0.compiled.keep(digest, code);
        if let Err(error) = &kept {
            tracing::warn!(%digest, %error, "compiled code cannot be kept, so that the next start compiles again");
        }
        let native = match self.in_memory(code) {
            Some(native) => native,
            None => {
                let path = kept?;
                let file = File::open(&path).map_err(|error| Error::cache(&path, &error))?;
                NativeCode { file, bytes: code.len() as u64, is_in_memory: false }
            }
        };
        Ok(self.hold(digest, native))
    }

    /// What was noted under a name.
    pub(crate) fn note(&self, name: &Digest) -> Option<Vec<u8>> {
        self.0.compiled.notes().ok()?.take(name)
    }

    pub(crate) fn keep_note(&self, name: &Digest, note: &[u8]) {
        let kept = self.0.compiled.notes().and_then(|notes| notes.keep(name, note));
        if let Err(error) = kept {
            tracing::warn!(%error, "whose code it is cannot be noted, so that it is made again");
        }
    }

    /// A directory under the same key.
    pub(crate) fn shelf(&self, directory: &Path) -> Result<Compiled, Error> {
        self.0.compiled.beside(directory)
    }

    /// Takes code off the disk.
    pub(crate) fn forget(&self, digest: &Digest) {
        self.0.compiled.remove(digest);
    }

    /// Holds code for those who ask for it from now on.
    pub(crate) fn hold(&self, digest: &Digest, code: NativeCode) -> Arc<NativeCode> {
        self.lock().hold(digest, code)
    }

    fn in_memory(&self, code: &[u8]) -> Option<NativeCode> {
        let bytes = code.len() as u64;
        if self.lock().memory_bytes.saturating_add(bytes) > MEMORY_BYTES_MAX {
            return None;
        }
        let sealed = sealed(code).inspect_err(|error| {
            tracing::warn!(%error, "there is no memory for compiled code; it is mapped from its file");
        });
        Some(NativeCode { file: sealed.ok()?, bytes, is_in_memory: true })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // A panic while the lock was held cannot have left the table half written.
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn hold(&mut self, digest: &Digest, code: NativeCode) -> Arc<NativeCode> {
        if let Some(twin) = self.codes.get(digest) {
            return twin.clone(); // another one was quicker
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

    /// A descriptor to give away.
    ///
    /// # Errors
    /// When the process has as many as it may.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned()
    }

    /// Gives it to a child that is not started yet, and says under which path the child finds it.
    ///
    /// # Errors
    /// When the process has as many descriptors as it may.
    pub fn give_to(&self, child: &mut Command) -> io::Result<PathBuf> {
        let descriptor = self.descriptor()?;
        let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
        let stay_open = move || Ok(fcntl(&descriptor, FcntlArg::F_SETFD(FdFlag::empty())).map(drop)?);
        // SAFETY: the closure makes one system call, which is safe between fork and exec.
        unsafe { child.pre_exec(stay_open) };
        Ok(path.into())
    }
}

/// Memory that holds these bytes and will never hold others.
fn sealed(bytes: &[u8]) -> io::Result<File> {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let memory = match memfd_create(c"compiled code", flags | NO_PROGRAM) {
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

    fn codes() -> (Codes, Compiled, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let compiled = Compiled::open(directory.path(), [7; 32]).unwrap();
        (Codes::new(compiled.clone()), compiled, directory)
    }

    fn contents(code: &NativeCode) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(code.bytes).unwrap()];
        code.file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn what_is_held_never_changes() {
        let (codes, compiled, _directory) = codes();
        let digest = Digest::of(b"a component");
        let path = compiled.keep(&digest, b"native code").unwrap();
        let code = codes.get(&digest).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(3).unwrap();
        assert_eq!(contents(&code), b"native code");
        assert_eq!(contents(&codes.get(&digest).unwrap()), b"native code");
        assert!(code.file.write_at(b"x", 0).is_err() && code.file.set_len(3).is_err(), "it is sealed");
        assert!(Codes::new(compiled).get(&digest).is_err(), "another process finds what is there");
    }

    #[test]
    fn what_has_no_room_in_memory_stays_in_its_file() {
        let (codes, _compiled, _directory) = codes();
        codes.lock().memory_bytes = MEMORY_BYTES_MAX - 3;
        for number in 0..=FILES_MAX {
            let code = codes.keep(&Digest::of(&number.to_le_bytes()), b"native code").unwrap();
            assert!(!code.is_in_memory && contents(&code) == b"native code");
        }
        assert_eq!(codes.lock().codes.len(), 1, "they have a bound");
        let small = codes.keep(&Digest::of(b"small"), b"ret").unwrap();
        assert!(small.is_in_memory && codes.lock().memory_bytes == MEMORY_BYTES_MAX);
    }

    #[test]
    fn code_that_cannot_be_kept_runs_all_the_same() {
        let (codes, _compiled, directory) = codes();
        std::fs::remove_dir_all(directory.path()).unwrap();
        let code = codes.keep(&Digest::of(b"a component"), b"native code").unwrap();
        assert_eq!(contents(&code), b"native code");
    }
}
