//! Descriptors that bubblewrap gets, and the one that stands for a process.

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

/// Something to be read from its beginning, that lies nowhere.
pub fn readable(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(c"sandbox", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// The end that reads, and the end that writes.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe2(OFlag::O_CLOEXEC)?)
}

/// One process, and no other that gets its number later. That of a process namespace's first process stands for all in it:
/// they end with it, and it ends after them.
pub struct ProcessHandle(AsyncFd<OwnedFd>);

impl ProcessHandle {
    pub fn open(pid: i32) -> io::Result<Self> {
        // SAFETY: two numbers are passed.
        let opened = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
        let descriptor = i32::try_from(opened).map_err(io::Error::other)?;
        // SAFETY: it was made for us just now.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        // SAFETY: it owns its descriptor, which stays the same and open for as long as it is there.
        let watched = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?;
        Ok(Self(watched))
    }

    /// One that is gone already is no error.
    pub fn kill(&self) {
        let (descriptor, signal) = (self.0.as_raw_fd(), Signal::SIGKILL as libc::c_int);
        let no_information = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: the descriptor is ours, and a signal without further information may be sent.
        let _ = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, descriptor, signal, no_information, 0) };
    }

    /// Waits until it is gone.
    pub async fn gone(&self) -> io::Result<()> {
        self.0.readable().await.map(drop)
    }
}
