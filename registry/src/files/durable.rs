//! Writing files so that they survive a power failure, and so that only their owner can read them.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::{Error, Result};
use crate::kit::random;

/// Mode of private directories: accessible to the owner only.
const DIRECTORY_MODE: u32 = 0o700;

/// The contents of a `.gitignore` that leaves out everything beside it.
const IGNORE_ALL: &[u8] = b"*\n";

const TEMPORARY_SUFFIX: &str = ".tmp";

/// Permission bits of the group and of all others.
const OTHERS: u32 = 0o077;

/// Returns the result, with the path added to an I/O error.
pub(crate) fn add_path<T>(path: &Path, result: io::Result<T>) -> Result<T> {
    result.map_err(|source| failure(path, source))
}

/// Maps the errors of a full or failing disk to [`Error::StorageFailing`].
pub(crate) fn failure(path: &Path, source: io::Error) -> Error {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem) {
        return Error::StorageFailing { detail: format!("{}: {source}", path.display()) };
    }
    Error::Io { path: path.to_owned(), source }
}

/// Creates a folder that only its owner can access, or removes the access of others to an existing one.
pub(crate) fn create_private_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return add_path(path, close_directory(path));
    }
    add_path(path, fs::create_dir_all(path))?;
    add_path(path, fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE)))?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Removes the access of others to a directory.
pub(crate) fn close_directory(path: &Path) -> io::Result<()> {
    match is_open(path)? {
        true => fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE)),
        false => Ok(()),
    }
}

/// Whether others than the owner have a permission on the path.
pub(crate) fn is_open(path: &Path) -> io::Result<bool> {
    Ok(fs::metadata(path)?.permissions().mode() & OTHERS != 0)
}

/// Writes and flushes a new file that only its owner can read.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = add_path(path, OpenOptions::new().write(true).create_new(true).mode(0o600).open(path))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // The error of the write is reported, not that of the removal.
        let _ = fs::remove_file(path);
    }
    add_path(path, written)
}

/// Keeps git from adding the files of a folder: it may be in a clone, where `git add .` would take the master key.
pub(crate) fn ignore_in_git(folder: &Path) -> Result<()> {
    let path = folder.join(".gitignore");
    if add_path(&path, path.try_exists())? {
        return Ok(());
    }
    match write_private(&path, IGNORE_ALL) {
        // Another process made it meanwhile.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written,
    }
}

/// Flushes the names in a folder.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    // The parent of a one-word relative path is the empty path.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    add_path(path, File::open(path).and_then(|folder| folder.sync_all()))
}

/// Returns a random file name, which no other process uses.
pub(crate) fn make_temporary_name() -> String {
    format!(".{}{TEMPORARY_SUFFIX}", random::base62(20))
}

/// Whether [`make_temporary_name`] may have returned the name.
pub(crate) fn is_temporary_name(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(TEMPORARY_SUFFIX)
}
