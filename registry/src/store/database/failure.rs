//! Why a statement failed.

use crate::error::Error;

/// The kinds of failures that callers treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A unique constraint was violated.
    Conflict,
    /// The time of the statement was over.
    TooSlow,
    Other,
}

#[derive(Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub error: Error,
}

impl Failure {
    pub fn is_conflict(&self) -> bool {
        self.kind == FailureKind::Conflict
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { kind: FailureKind::Other, error }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}
