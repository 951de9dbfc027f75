//! A directory for what the builds of one process have in hand. It goes with the process; that of a process which was
//! killed goes when the next one looks.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Held while rooms are taken or looked through.
const DOOR: &str = "lock";
/// Held by the owner of the room of the same name.
const LOCK_SUFFIX: &str = ".lock";
const PREFIX: &str = "worker-";
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// A directory of this process alone.
#[derive(Debug)]
pub struct Room {
    path: PathBuf,
    lock: PathBuf,
    _held: File,
}

impl Room {
    /// Takes one, and removes those whose owners are gone.
    ///
    /// # Errors
    /// When the file system does not let it.
    pub fn take(parent: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(parent)?;
        let _door = door(parent)?;
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

impl Drop for Room {
    fn drop(&mut self) {
        // What cannot be removed now goes when the next process looks.
        drop(fs::remove_dir_all(&self.path).and_then(|()| fs::remove_file(&self.lock)));
    }
}

/// Removes rooms whose owners are gone.
///
/// # Errors
/// When one cannot be removed.
pub fn sweep(parent: &Path) -> io::Result<()> {
    if !parent.is_dir() {
        return Ok(());
    }
    let _door = door(parent)?;
    remove_abandoned(parent)
}

fn door(parent: &Path) -> io::Result<File> {
    let door = open(&parent.join(DOOR))?;
    door.lock()?;
    Ok(door)
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(PRIVATE_FILE).open(path)
}

fn lock_of(room: &Path) -> PathBuf {
    let mut name = room.as_os_str().to_owned();
    name.push(LOCK_SUFFIX);
    name.into()
}

/// With the door held, so that no room is between its directory and its lock.
fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let room = entry?.path();
        if !room.is_dir() {
            continue;
        }
        let lock = lock_of(&room);
        if open(&lock)?.try_lock().is_ok() {
            fs::remove_dir_all(&room)?;
            fs::remove_file(&lock)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_goes_with_its_owner_and_an_abandoned_one_when_somebody_looks() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path().join("scratch");
        let (first, second) = (Room::take(&parent).unwrap(), Room::take(&parent).unwrap());
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
