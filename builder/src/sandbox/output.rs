//! Reads a job's output file, once no process of the job is left.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::Mode;

use super::Failure;
use super::job::BUILD_DIRECTORY;

/// Reads a regular file below the scratch directory, without following links.
pub fn take(scratch: &OwnedFd, path: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let refuse = |problem: String| Failure::Output { problem: format!("{} {problem}", path.display()) };
    let below = path
        .strip_prefix(BUILD_DIRECTORY)
        .map_err(|_| Failure::sandbox("the output path is outside of the scratch directory"))?;
    let file = match open(scratch.as_fd(), below) {
        Ok(file) => file,
        Err(Errno::ENOENT | Errno::ENOTDIR) => return Err(refuse("was not created".into())),
        Err(Errno::ELOOP | Errno::EXDEV | Errno::ENXIO) => return Err(refuse("is not a regular file".into())),
        Err(error) => return Err(refuse(format!("cannot be read ({})", error.desc()))),
    };
    read(file, bytes_max).map_err(Failure::sandbox)?.map_err(refuse)
}

fn open(scratch: impl AsFd, below: &Path) -> nix::Result<File> {
    let within = ResolveFlag::RESOLVE_BENEATH
        | ResolveFlag::RESOLVE_NO_SYMLINKS
        | ResolveFlag::RESOLVE_NO_MAGICLINKS
        | ResolveFlag::RESOLVE_NO_XDEV;
    // Opening a pipe without a writer must not block.
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    openat2(scratch, below, OpenHow::new().flags(flags).mode(Mode::empty()).resolve(within)).map(File::from)
}

fn read(file: File, bytes_max: u64) -> io::Result<Result<Vec<u8>, String>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Err("is not a regular file".into()));
    }
    let too_large = |size| Ok(Err(format!("has {size} bytes; the limit is {bytes_max}")));
    if metadata.len() > bytes_max {
        return too_large(metadata.len());
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}
