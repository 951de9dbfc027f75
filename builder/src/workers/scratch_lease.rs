//! Leases on directories for the temporary files of one process. A directory is removed with its process; that of a
//! killed process is removed by the next process that takes a lease.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The lock file for taking leases and for removing abandoned directories.
const PARENT_LOCK: &str = "lock";
/// The suffix of a directory's lock file. The process that owns the directory holds the lock.
const LOCK_SUFFIX: &str = ".lock";
const PREFIX: &str = "worker-";
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// A directory of this process, removed on drop.
#[derive(Debug)]
pub struct ScratchLease {
    path: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl ScratchLease {
    /// Takes a lease on a new directory, and removes the directories of processes that have ended.
    ///
    /// # Errors
    /// When a file or directory cannot be made, locked or removed.
    pub fn take(parent: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(parent)?;
        let _parent = lock_parent(parent)?;
        remove_abandoned(parent)?;
        let path = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?.keep();
        let lock = lock_of(&path);
        let held = open(&lock)?;
        held.lock()?;
        Ok(Self { path, lock, _held: held })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchLease {
    fn drop(&mut self) {
        // The next process removes what this one cannot.
        drop(fs::remove_dir_all(&self.path).and_then(|()| fs::remove_file(&self.lock)));
    }
}

/// Removes the directories of processes that have ended.
///
/// # Errors
/// When a directory cannot be removed.
pub fn sweep(parent: &Path) -> io::Result<()> {
    if !parent.is_dir() {
        return Ok(());
    }
    let _parent = lock_parent(parent)?;
    remove_abandoned(parent)
}

fn lock_parent(parent: &Path) -> io::Result<File> {
    let lock = open(&parent.join(PARENT_LOCK))?;
    lock.lock()?;
    Ok(lock)
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(PRIVATE_FILE).open(path)
}

fn lock_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(LOCK_SUFFIX);
    name.into()
}

/// Removes directories whose lock is free. The caller holds the parent's lock, so that no directory is still without its
/// own.
fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let directory = entry?.path();
        if !directory.is_dir() {
            continue;
        }
        let lock = lock_of(&directory);
        if open(&lock)?.try_lock().is_ok() {
            fs::remove_dir_all(&directory)?;
            fs::remove_file(&lock)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_removed_with_its_lease_or_by_the_next_sweep() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path().join("scratch");
        let (first, second) = (ScratchLease::take(&parent).unwrap(), ScratchLease::take(&parent).unwrap());
        assert!(first.path().is_dir() && second.path().is_dir() && first.path() != second.path());
        let gone = first.path().to_owned();
        drop(first);
        assert!(!gone.exists() && !lock_of(&gone).exists());
        let abandoned = parent.join("worker-killed");
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join("file"), "x").unwrap();
        fs::write(lock_of(&abandoned), "").unwrap();
        sweep(&parent).unwrap();
        assert!(!abandoned.exists() && !lock_of(&abandoned).exists() && second.path().is_dir());
    }
}
