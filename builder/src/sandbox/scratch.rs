//! Temporary directories for the files of builds. Each is removed with its value; those of a crashed process are removed
//! at the next start.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::io_error::at;

/// The mode of a directory that a job's user may read.
const READABLE: u32 = 0o755;
/// The mode of the root, which only the server may list.
const PRIVATE: u32 = 0o700;

/// The root of temporary directories.
#[derive(Debug, Clone)]
pub struct Scratches {
    root: PathBuf,
}

/// A temporary directory, removed on drop.
#[derive(Debug)]
pub struct ScratchDirectory(TempDir);

impl Scratches {
    /// # Errors
    /// When the directory cannot be made.
    pub fn open(root: impl Into<PathBuf>) -> io::Result<Self> {
        let root = root.into();
        fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(&root).map_err(at(&root))?;
        Ok(Self { root })
    }

    /// Removes everything, and returns the number of entries. No build may be running, so that only a starting server
    /// calls this.
    ///
    /// # Errors
    /// When an entry cannot be removed.
    pub fn sweep(&self) -> io::Result<usize> {
        let mut swept = 0;
        for entry in fs::read_dir(&self.root).map_err(at(&self.root))? {
            let path = entry.map_err(at(&self.root))?.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(at(&path))?;
            swept += 1;
        }
        Ok(swept)
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// When the disk fails or is full.
    pub fn make(&self) -> io::Result<ScratchDirectory> {
        let made = TempDir::with_prefix_in("build-", &self.root).map_err(at(&self.root))?;
        fs::set_permissions(made.path(), fs::Permissions::from_mode(READABLE)).map_err(at(made.path()))?;
        Ok(ScratchDirectory(made))
    }
}

impl ScratchDirectory {
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_removed_on_drop_and_at_the_next_start() {
        let directory = tempfile::tempdir().expect("a directory");
        let scratches = Scratches::open(directory.path().join("scratch")).expect("scratches");
        let made = scratches.make().expect("a directory");
        let gone = made.path().to_owned();
        drop(made);
        assert!(!gone.exists());
        let left = scratches.make().expect("a directory").0.keep();
        fs::write(left.join("file"), "x").expect("a file");
        assert_eq!(scratches.sweep().expect("swept"), 1);
        assert!(!left.exists());
    }
}
