//! Why a job did not go well.

use std::io;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::error::{Error, Place};

/// The job's own end, a bound that it reached, or the sandbox's trouble.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("it ended with status {code}")]
    Status { code: i32 },
    /// The program itself. When one that it started is ended, it says so in its own way.
    #[error("{}", ended_by(*.signal))]
    Signal { signal: i32 },
    #[error("it took longer than {} s", after.as_secs())]
    Time { after: Duration },
    #[error("it has {found} {what}; {max} are the limit")]
    Bound { what: &'static str, found: u64, max: u64 },
    #[error("{problem}")]
    Output { problem: String },
    /// Nothing that an author could mend.
    #[error("the sandbox failed: {problem}")]
    Sandbox { problem: String },
}

impl Failure {
    pub(super) fn sandbox(problem: impl std::fmt::Display) -> Self {
        Self::Sandbox { problem: problem.to_string() }
    }

    /// What an author has to mend, as a short name.
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

    /// As the end of a build's stage, whose work is called `what`: "cargo", "the build".
    #[must_use]
    pub fn of_stage(&self, stage: &'static str, what: &str) -> Error {
        match self {
            Self::Sandbox { .. } => Error::internal(self),
            _ => Error::failed(stage, self.check(), format!("{what}: {self}"), Place::default()),
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

fn ended_by(signal: i32) -> String {
    match Signal::try_from(signal) {
        Ok(Signal::SIGXCPU) => "it computed longer than it may".to_owned(),
        Ok(Signal::SIGXFSZ) => "it wrote a file larger than it may".to_owned(),
        Ok(signal) => format!("it was ended by {signal}"),
        Err(_) => format!("it was ended by signal {signal}"),
    }
}
