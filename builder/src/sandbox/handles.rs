//! Descriptors that bubblewrap inherits, and process handles.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::Signal;
use nix::unistd::pipe2;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// An anonymous file with these bytes, at its start.
pub fn create_readable(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(c"sandbox", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// A pipe: its reading end, then its writing end.
pub fn create_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe2(OFlag::O_CLOEXEC)?)
}

/// A process, safe against reuse of its id. The first process of a namespace ends after all others in it, and its death
/// ends them.
pub struct ProcessHandle(AsyncFd<OwnedFd>);

impl ProcessHandle {
    pub fn open(pid: i32) -> io::Result<Self> {
        // SAFETY: the arguments are numbers.
        let opened = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
        let descriptor = i32::try_from(opened).map_err(io::Error::other)?;
        // SAFETY: the call has just returned this descriptor, and nothing else owns it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        // SAFETY: the `OwnedFd` keeps the same descriptor open as long as it exists.
        let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?;
        Ok(Self(watched))
    }

    /// Kills the process; does nothing when it has ended.
    pub fn kill(&self) {
        let (descriptor, signal) = (self.0.as_raw_fd(), Signal::SIGKILL as libc::c_int);
        let no_information = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: the descriptor is owned by this value, and the information may be null.
        let _ = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, descriptor, signal, no_information, 0) };
    }

    /// Waits for the end of the process.
    pub async fn wait(&self) -> io::Result<()> {
        self.0.readable().await.map(drop)
    }
}
