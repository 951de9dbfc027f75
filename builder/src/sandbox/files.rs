//! Writes files that jobs in the sandbox can read, whatever the process's umask.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;

use crate::io_error::at;

const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// Writes files below a directory.
pub fn write_all(root: &Path, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    make_directory(root)?;
    files.iter().try_for_each(|(path, bytes)| {
        let mut file = create(root, Path::new(path))?;
        io::copy(&mut &bytes[..], &mut file).map(drop).map_err(at(&root.join(path)))
    })
}

/// Creates a file below a directory, with all directories on its path.
pub fn create(root: &Path, below: &Path) -> io::Result<File> {
    for directory in below.ancestors().skip(1).collect::<Vec<_>>().into_iter().rev() {
        make_directory(&root.join(directory))?;
    }
    let path = root.join(below);
    let file = File::create_new(&path).map_err(at(&path))?;
    file.set_permissions(Permissions::from_mode(FILE_MODE)).map_err(at(&path))?;
    Ok(file)
}

/// Creates a directory unless it exists.
pub fn make_directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE)).map_err(at(path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(at(path)(error)),
    }
}

/// Sets the modification times of a directory and of everything in it, so that they do not depend on the time of the build.
pub fn set_times(path: &Path, time: TimeSpec) -> io::Result<()> {
    if path.is_dir() {
        fs::read_dir(path)?.try_for_each(|entry| set_times(&entry?.path(), time))?;
    }
    Ok(utimensat(AT_FDCWD, path, &time, &time, UtimensatFlags::NoFollowSymlink)?)
}
