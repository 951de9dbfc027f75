//! Writing files so that they survive a power cut: the bytes, then the name, then the folder are flushed.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::{Error, Result};
use crate::random;

/// Gives the error the path that it is about.
pub(crate) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|source| failure(path, source))
}

/// Folds the errors of a full or failing disk into the kind that says "later".
pub(crate) fn failure(path: &Path, source: io::Error) -> Error {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem) {
        return Error::StorageFailing { detail: format!("{}: {source}", path.display()) };
    }
    Error::Io { path: path.to_owned(), source }
}

/// Creates a folder that only its owner may enter, if it is not there.
pub(crate) fn create_private_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    at(path, fs::create_dir_all(path))?;
    at(path, fs::set_permissions(path, Permissions::from_mode(0o700)))?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Writes a file readable by its owner alone, under a name that nobody else uses yet.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = at(path, OpenOptions::new().write(true).create_new(true).mode(0o600).open(path))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Best effort: the error of the write is the one to report.
        let _ = fs::remove_file(path);
    }
    at(path, written)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    // The parent of a one-word relative path is the empty path.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    at(path, File::open(path).and_then(|folder| folder.sync_all()))
}

/// A file name beside `path` that no other process picks.
pub(crate) fn temporary_name() -> String {
    format!(".{}.tmp", random::base62(20))
}
