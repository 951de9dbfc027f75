//! Files that a job in the sandbox can read, whatever this process's mask is.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// Writes a tree of files below a directory.
pub fn write_all(root: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    make_directory(root)?;
    files.iter().try_for_each(|(path, bytes)| io::copy(&mut &bytes[..], &mut create(root, Path::new(path))?).map(drop))
}

/// Makes a file below a directory, and the directories between them.
pub fn create(root: &Path, below: &Path) -> io::Result<File> {
    for directory in below.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
        make_directory(&root.join(directory))?;
    }
    let file = File::create_new(root.join(below))?;
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Makes a directory that need not be new.
pub fn make_directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}
