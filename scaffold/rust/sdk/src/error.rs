//! The failure of a run.

use std::any::type_name;
use std::error;
use std::fmt;
use std::panic::Location;

use crate::bindings::ToolError;

/// A failure of a run. The caller receives its kind, its message and the position where it was created.
///
/// `?` converts every error type: the kind is the name of the type, and the stack trace lists the sources of the error.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: String,
    message: String,
    stack_trace: Vec<String>,
}

impl Error {
    /// Creates an error of a kind of your own, such as `OutOfRange`.
    #[track_caller]
    pub fn new(kind: impl Into<String>, message: impl fmt::Display) -> Self {
        Self { kind: kind.into(), message: message.to_string(), stack_trace: vec![Location::caller().to_string()] }
    }

    pub fn kind(&self) -> &str {
        &self.kind
    }

    pub fn message(&self) -> &str {
        &self.message
    }
}

impl<E: error::Error> From<E> for Error {
    #[track_caller]
    fn from(error: E) -> Self {
        let mut stack_trace = vec![Location::caller().to_string()];
        let mut cause = error.source();
        while let Some(found) = cause {
            stack_trace.push(format!("caused by: {found}"));
            cause = found.source();
        }
        Self { kind: short(type_name::<E>()).to_owned(), message: error.to_string(), stack_trace }
    }
}

/// Returns the name of a type without its path and parameters: `ParseIntError` for `core::num::error::ParseIntError`.
fn short(name: &str) -> &str {
    let path = name.split('<').next().unwrap_or(name);
    path.rsplit("::").next().unwrap_or(path)
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.kind, self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")?;
        self.stack_trace.iter().try_for_each(|line| write!(formatter, "\n    {line}"))
    }
}

impl From<Error> for ToolError {
    fn from(Error { kind, message, stack_trace }: Error) -> Self {
        Self { kind, message, stack_trace }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails() -> Result<u8, Error> {
        Ok("three hundred".parse::<u8>()?)
    }

    #[test]
    fn a_question_mark_keeps_the_type_the_message_and_the_place() {
        let error = fails().expect_err("no number");
        assert_eq!((error.kind(), error.message()), ("ParseIntError", "invalid digit found in string"));
        assert!(error.stack_trace[0].contains("error.rs:"), "{error:?}");
        let error = Error::new("OutOfRange", "times must be at least 1");
        assert_eq!(error.to_string(), "OutOfRange: times must be at least 1");
    }
}
