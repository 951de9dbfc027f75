//! How a child process ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::libc::{SIGABRT, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};

/// Signals that a process gets for what it does itself: it computed, allocated or wrote more than it may, or failed.
const OWN_SIGNALS: [i32; 8] = [SIGXCPU, SIGXFSZ, SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS];

/// Seconds of CPU time between the limit, at which a child gets `SIGXCPU`, and the kill by the system. A child that is killed at
/// its limit could not be told from one that the system killed for lack of memory.
pub const CPU_SECONDS_GRACE: u64 = 5;

/// The end of a child process. Only the first three depend on nothing but its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildEnd {
    Succeeded,
    /// It ended with an error of its own.
    Failed,
    /// It reached a limit that it had set for itself.
    LimitReached,
    /// A signal from outside ended it, for instance because the machine lacks memory. The next attempt may succeed.
    Killed,
}

impl ChildEnd {
    #[must_use]
    pub fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(0), _) => Self::Succeeded,
            (Some(_), _) => Self::Failed,
            (None, Some(signal)) if OWN_SIGNALS.contains(&signal) => Self::LimitReached,
            (None, _) => Self::Killed,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn ends_from_outside_are_told_from_own_ones() {
        let end = |script: &str| ChildEnd::of(Command::new("sh").args(["-c", script]).status().unwrap());
        assert_eq!((end("true"), end("exit 3")), (ChildEnd::Succeeded, ChildEnd::Failed));
        assert_eq!(end("ulimit -S -t 1; while :; do :; done"), ChildEnd::LimitReached);
        assert_eq!(end("kill -ABRT $$"), ChildEnd::LimitReached);
        for signal in ["KILL", "TERM", "HUP", "BUS"] {
            assert_eq!(end(&format!("kill -{signal} $$")), ChildEnd::Killed, "{signal}");
        }
    }
}
