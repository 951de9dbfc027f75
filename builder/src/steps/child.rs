//! The child processes of build steps, which run code and parsers that the server does not trust.

use std::io;

use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use tokio::process::Command;

use crate::error::Error;

/// The command of a child with an empty environment, which is killed when it is dropped. It consists of a program and its
/// arguments.
///
/// # Errors
/// When it is empty.
pub fn command(command: &[String]) -> Result<Command, Error> {
    let [program, arguments @ ..] = command else {
        return Err(Error::internal("the program of a child process is not configured"));
    };
    let mut child = Command::new(program);
    child.args(arguments).env_clear().kill_on_drop(true);
    Ok(child)
}

/// The limits that a child sets for itself.
pub struct ChildLimits {
    pub cpu_seconds_max: u64,
    pub memory_bytes_max: u64,
    /// Bytes of each file that it writes.
    pub file_bytes_max: u64,
}

impl ChildLimits {
    /// Limits this process, ends it with its parent, and removes its network if the kernel allows that.
    ///
    /// # Errors
    /// When a limit cannot be set.
    pub fn apply(&self) -> io::Result<()> {
        set_pdeathsig(Signal::SIGKILL)?;
        setrlimit(Resource::RLIMIT_CPU, self.cpu_seconds_max, self.cpu_seconds_max)?;
        setrlimit(Resource::RLIMIT_DATA, self.memory_bytes_max, self.memory_bytes_max)?;
        setrlimit(Resource::RLIMIT_FSIZE, self.file_bytes_max, self.file_bytes_max)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        if unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).is_err() {
            // Without user namespaces the child still has no reason to open a connection.
        }
        Ok(())
    }
}
