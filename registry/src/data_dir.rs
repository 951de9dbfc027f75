//! The folder that holds everything an installation keeps, and the lock that one server has on it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::durable::{at, create_private_folder};
use crate::error::{Error, Result};

/// The layout of a data directory. Opening creates the folder, private to its owner.
#[derive(Clone, Debug)]
pub struct DataDir {
    root: PathBuf,
}

/// Held by the server as long as it runs; ends with the process, however it ends.
#[derive(Debug)]
pub struct DataDirLock {
    _file: File,
}

impl DataDir {
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        create_private_folder(&root)?;
        Ok(Self { root })
    }

    /// Takes the lock, or says which process has it. Commands that only add rows work without it.
    pub fn lock(&self) -> Result<DataDirLock> {
        let path = self.root.join("lathe.lock");
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = at(&path, options)?;
        match file.try_lock() {
            Ok(()) => at(&path, note_process(&mut file)).map(|()| DataDirLock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::DataDirectoryInUse { path: self.root.clone(), pid: noted_process(&mut file) })
            }
            Err(TryLockError::Error(source)) => Err(Error::Io { path, source }),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The SQLite file.
    pub fn database(&self) -> PathBuf {
        self.root.join("lathe.db")
    }

    /// Content-addressed bytes.
    pub fn artifacts(&self) -> PathBuf {
        self.root.join("artifacts")
    }

    /// The master key.
    pub fn keys(&self) -> PathBuf {
        self.root.join("keys")
    }

    /// Bare repositories.
    pub fn git(&self) -> PathBuf {
        self.root.join("git")
    }

    /// What can be made again: compiled code.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// Where build workers come in, and all that they keep.
    pub fn workers(&self) -> PathBuf {
        self.root.join("workers")
    }

    /// What belongs to running builds; empty after a start.
    pub fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }
}

fn note_process(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn noted_process(file: &mut File) -> String {
    let mut text = String::new();
    // Only to help the operator: an unreadable note leaves the number unknown.
    let read = file.read_to_string(&mut text);
    let pid = text.trim();
    if read.is_ok() && !pid.is_empty() { pid.to_owned() } else { "unknown".to_owned() }
}
