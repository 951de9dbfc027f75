//! The refs on which a push runs. git moves them, and nobody else reads them.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::copy::create_scratch;
use super::refs::{self, Refs};
use crate::error::Error;

/// A bare repository with refs of its own and the objects of a copy. Dropping it removes it, and no object.
#[derive(Debug)]
pub(crate) struct Staging {
    path: PathBuf,
    _directory: TempDir,
}

impl Staging {
    pub(super) fn create(root: &Path, copy: &Path, refs: &Refs) -> Result<Self, Error> {
        let directory = create_scratch(root)?;
        let path = directory.path().join("push.git");
        let create = || -> io::Result<()> {
            DirBuilder::new().recursive(true).mode(0o700).create(path.join("refs/heads"))?;
            for file in ["HEAD", "config"] {
                fs::copy(copy.join(file), path.join(file))?;
            }
            symlink(copy.join("objects"), path.join("objects"))?;
            refs::write(&path, refs)
        };
        create().map_err(Error::io("prepare a push"))?;
        Ok(Self { path, _directory: directory })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The refs after the push.
    pub(super) fn read_refs(&self) -> Result<Refs, Error> {
        refs::read(&self.path).map_err(Error::git("read the refs after a push"))
    }
}
