//! Directories of this machine for what jobs are shown. Each goes with its value; what a crash left
//! behind goes at the next start.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// In which a job's user may read.
const READABLE: u32 = 0o755;
/// Only the server looks for what builds have in hand.
const PRIVATE: u32 = 0o700;

/// Where they are made.
#[derive(Debug, Clone)]
pub struct Scratches {
    root: PathBuf,
}

/// One of them, gone when it is dropped.
#[derive(Debug)]
pub struct ScratchDirectory(TempDir);

impl Scratches {
    /// # Errors
    /// When the directory cannot be made.
    pub fn open(root: impl Into<PathBuf>) -> io::Result<Self> {
        let root = root.into();
        fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(&root)?;
        Ok(Self { root })
    }

    /// Removes everything. Only while no build runs, which is at the start of a server.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn sweep(&self) -> io::Result<usize> {
        let mut swept = 0;
        for entry in fs::read_dir(&self.root)? {
            let path = entry?.path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }?;
            swept += 1;
        }
        Ok(swept)
    }

    /// # Errors
    /// When the disk does not let it.
    pub fn make(&self) -> io::Result<ScratchDirectory> {
        let made = TempDir::with_prefix_in("build-", &self.root)?;
        fs::set_permissions(made.path(), fs::Permissions::from_mode(READABLE))?;
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
    fn what_a_crash_left_behind_is_swept_and_the_rest_goes_by_itself() {
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
