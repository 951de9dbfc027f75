//! Removing the access of other users to an existing data directory.

use std::fs;
use std::io;
use std::path::Path;

use super::durable::{add_path, close_directory, is_open};
use crate::error::{Error, Result};

/// Entries of a data directory. After its first use it has at least one of them.
const MARKS: [&str; 4] = ["keys", "lathe.db", "lathe.lock", "workers"];

/// Removes the access of others to an existing data directory.
///
/// # Errors
/// [`Error::DataDirectoryExposed`] when this process may not change the mode, or when the directory contains other files. It was
/// then most likely named by mistake, and a changed mode of `/tmp` would break the machine.
pub(crate) fn close_data_directory(path: &Path) -> Result<()> {
    if !add_path(path, is_open(path))? {
        return Ok(());
    }
    if !add_path(path, is_ours_or_empty(path))? {
        return Err(exposed(path, &io::Error::other("it contains files of other programs")));
    }
    close_directory(path).map_err(|error| exposed(path, &error))
}

fn is_ours_or_empty(path: &Path) -> io::Result<bool> {
    Ok(MARKS.iter().any(|name| path.join(name).exists()) || fs::read_dir(path)?.next().is_none())
}

fn exposed(path: &Path, error: &io::Error) -> Error {
    Error::DataDirectoryExposed { path: path.to_owned(), reason: error.to_string() }
}
