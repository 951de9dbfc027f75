//! The data directory of an installation, and the lock that its server holds.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::durable::{add_path, create_private_folder, ignore_in_git};
use super::private::close_data_directory;
use crate::error::{Error, Result};

/// The layout of a data directory.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
}

/// The lock of a running server. The operating system releases it when the process ends in any way.
#[derive(Debug)]
pub struct DataDirLock {
    _file: File,
}

/// Attempts to take the lock, two seconds in total. A loaded machine may leave a process between fork and exec for a while.
const LOCK_ATTEMPTS: u32 = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The SQLite file in a data directory.
const DATABASE: &str = "lathe.db";
/// The folder of the master key, and its file.
const KEYS: &str = "keys";
pub(crate) const MASTER_KEY: &str = "master.key";
/// The file that a running server has locked.
const LOCK: &str = "lathe.lock";

impl DataDir {
    /// Whether a directory is the data directory of an installation. Nothing is created.
    #[must_use]
    pub fn is_at(root: &Path) -> bool {
        Self::database_file(root).is_file()
    }

    /// The SQLite file of a directory, which may not exist.
    #[must_use]
    pub fn database_file(root: &Path) -> PathBuf {
        root.join(DATABASE)
    }

    /// The file with the URL of the bucket that has the artifacts. It does not exist while they are in the data directory.
    #[must_use]
    pub fn storage_file(root: &Path) -> PathBuf {
        root.join("storage")
    }

    /// Whether a directory has a master key, as that of every installation has, whatever its database.
    #[must_use]
    pub fn has_key(root: &Path) -> bool {
        root.join(KEYS).join(MASTER_KEY).is_file()
    }

    /// Whether a server runs on a directory. Nothing is created.
    #[must_use]
    pub fn has_server(root: &Path) -> bool {
        let lock = File::open(root.join(LOCK));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Creates the directory, accessible only to its owner and ignored by git, or removes the access of others to an existing one.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        // A directory with other files may be a project, which git shall not ignore.
        let is_new = std::fs::read_dir(&root).map_or(true, |mut entries| entries.next().is_none());
        if root.is_dir() {
            close_data_directory(&root)?;
        }
        create_private_folder(&root)?;
        if is_new {
            ignore_in_git(&root)?;
        }
        Ok(Self { root })
    }

    /// Takes the lock. [`Error::DataDirectoryInUse`] names the process that holds it. Commands that only add rows need no lock.
    pub fn lock(&self) -> Result<DataDirLock> {
        let path = self.root.join(LOCK);
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = add_path(&path, options)?;
        match wait_for_lock(&file) {
            Ok(()) => add_path(&path, write_pid(&mut file)).map(|()| DataDirLock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::DataDirectoryInUse { path: self.root.clone(), pid: read_pid(&mut file) })
            }
            Err(TryLockError::Error(source)) => Err(Error::Io { path, source }),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The SQLite file.
    pub fn database(&self) -> PathBuf {
        Self::database_file(&self.root)
    }

    /// The artifacts.
    pub fn artifacts(&self) -> PathBuf {
        self.root.join("artifacts")
    }

    /// Large bodies of recordings.
    pub fn recorded_bodies(&self) -> PathBuf {
        self.root.join("bodies")
    }

    /// Copies of artifacts and of large bodies in a bucket, which can be deleted.
    pub fn artifact_cache(&self) -> PathBuf {
        self.root.join("artifact-cache")
    }

    /// The master key.
    pub fn keys(&self) -> PathBuf {
        self.root.join(KEYS)
    }

    /// Bare repositories.
    pub fn git(&self) -> PathBuf {
        self.root.join("git")
    }

    /// Copies of repositories that several servers share, which can be deleted.
    pub fn git_copies(&self) -> PathBuf {
        self.root.join("git-copies")
    }

    /// Packs of shared repositories that a restore has brought. The next start of a server moves them to the bucket.
    pub fn restored_packs(&self) -> PathBuf {
        self.root.join("packs")
    }

    /// Compiled code, which can be deleted.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// The socket of build workers, and their files.
    pub fn workers(&self) -> PathBuf {
        self.root.join("workers")
    }

    /// The files of running builds. A start of the server empties it.
    pub fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }
}

/// A process that a killed server had just forked holds the lock until it runs its own program.
fn wait_for_lock(file: &File) -> std::result::Result<(), TryLockError> {
    for _ in 1..LOCK_ATTEMPTS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            ended => return ended,
        }
    }
    file.try_lock()
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn read_pid(file: &mut File) -> String {
    let mut text = String::new();
    // The number only helps the operator, so an unreadable file is no error.
    let read = file.read_to_string(&mut text);
    let pid = text.trim();
    if read.is_ok() && !pid.is_empty() { pid.to_owned() } else { "unknown".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_ignores_a_data_directory_and_no_project() {
        let place = tempfile::tempdir().expect("a directory");
        let data = DataDir::open(place.path().join("data")).expect("opened");
        assert_eq!(std::fs::read_to_string(data.root().join(".gitignore")).expect("a file"), "*\n");
        let project = place.path().join("project");
        std::fs::create_dir(&project).expect("a directory");
        std::fs::write(project.join("README.md"), "").expect("a file");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&project, mode).expect("its mode");
        DataDir::open(&project).expect("opened");
        assert!(!project.join(".gitignore").exists());
    }

    #[test]
    fn a_server_is_known_by_its_lock() {
        let place = tempfile::tempdir().expect("a directory");
        assert!(!DataDir::has_server(place.path()));
        let data = DataDir::open(place.path()).expect("opened");
        let lock = data.lock().expect("locked");
        assert!(DataDir::has_server(place.path()));
        drop(lock);
        assert!(!DataDir::has_server(place.path()));
    }
}
