//! Files and directories that only their owner can read.

use std::fs::{DirBuilder, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// Replaces a file atomically. Creates its directory if there is none.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory)?;
    let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(FILE_MODE)).tempfile_in(directory)?;
    file.write_all(contents.as_ref())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
