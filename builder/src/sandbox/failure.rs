//! The failures of a job.

use std::io;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::error::Error;

/// A failed program, an exceeded bound, or a fault of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("exited with status {code}")]
    Status { code: i32 },
    /// The signal ended the program itself, not one of its children.
    #[error("{}", explain_signal(*.signal))]
    Signal { signal: i32 },
    #[error("took longer than {} s", after.as_secs())]
    Time { after: Duration },
    #[error("used {found} {what}; the limit is {max}")]
    Bound { what: &'static str, found: u64, max: u64 },
    #[error("{problem}")]
    Output { problem: String },
    /// A fault of the machine, which the author cannot correct.
    #[error("the sandbox failed: {problem}")]
    Sandbox { problem: String },
}

impl Failure {
    pub(super) fn sandbox(problem: impl std::fmt::Display) -> Self {
        Self::Sandbox { problem: problem.to_string() }
    }

    /// The name of the check, which tells the author what to correct.
    #[must_use]
    pub const fn check(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Signal { .. } => "signal",
            Self::Time { .. } => "time",
            Self::Bound { .. } => "bound",
            Self::Output { .. } => "output",
            Self::Sandbox { .. } => "sandbox",
        }
    }

    /// The error of a build's stage. `what` names the program in the message, such as "cargo".
    #[must_use]
    pub fn of_stage(&self, stage: &'static str, what: &str) -> Error {
        match self {
            Self::Sandbox { .. } => Error::internal(self),
            _ => Error::failed(stage, self.check(), format!("{what} {self}")),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::sandbox(error)
    }
}

impl From<nix::Error> for Failure {
    fn from(error: nix::Error) -> Self {
        Self::sandbox(error)
    }
}

fn explain_signal(signal: i32) -> String {
    match Signal::try_from(signal) {
        Ok(Signal::SIGXCPU) => "exceeded its processor time".to_owned(),
        Ok(Signal::SIGXFSZ) => "wrote a file larger than the limit".to_owned(),
        Ok(signal) => format!("was ended by {signal}"),
        Err(_) => format!("was ended by signal {signal}"),
    }
}
