//! Where an export is written: stdout, or a file that gets its name at the end.

use std::fs::{self, File};
use std::io::{self, Stdout, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::NamedTempFile;

use crate::failure::Failure;

pub enum Destination {
    Stdout(Stdout),
    File(NewFile),
}

/// A file with a temporary name beside its final one. It is deleted unless it is kept. Only its owner can read it, since
/// records have the data of users.
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
    may_replace: bool,
}

impl NewFile {
    /// Creates the temporary file. Refuses an existing file unless it may be replaced.
    pub fn create(path: &Path, may_replace: bool) -> anyhow::Result<Self> {
        refuse_existing(path, may_replace)?;
        // A link is kept, and its file replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = tempfile::Builder::new().prefix(".lathe-export-").tempfile_in(find_folder(&path));
        let file = file.with_context(|| format!("creating a file beside {}", path.display()))?;
        Ok(Self { file, path, may_replace })
    }

    /// Gives the file its name, after its bytes are flushed.
    fn keep(self) -> anyhow::Result<()> {
        let Self { file, path, may_replace } = self;
        let kept = file.as_file().sync_all().and_then(|()| match may_replace {
            true => file.persist(&path).map_err(io::Error::from),
            false => file.persist_noclobber(&path).map_err(io::Error::from),
        });
        let synced = kept.and_then(|_| File::open(find_folder(&path))?.sync_all());
        synced.with_context(|| format!("writing {}", path.display()))
    }
}

impl Destination {
    pub fn keep(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(_) => Ok(()),
            Self::File(file) => file.keep(),
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::File(new) => new.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::File(new) => new.file.flush(),
        }
    }
}

/// Only a regular file is replaced: a device or a pipe would be lost.
fn refuse_existing(path: &Path, may_replace: bool) -> anyhow::Result<()> {
    let Ok(existing) = fs::metadata(path) else { return Ok(()) };
    let path = path.display();
    if !existing.is_file() {
        let hint = "give the name of a new file, or leave out --output and redirect stdout";
        return Err(Failure::refused(format!("{path} is not a regular file"), hint));
    }
    if may_replace {
        return Ok(());
    }
    Err(Failure::coded("already_exists", format!("{path} exists"), "give another name; --force replaces the file"))
}

fn find_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
