//! The error of the parsers of outside input.

/// A value that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {reason}")]
pub struct InvalidValue {
    /// The kind of value, as a noun: `tool name`.
    pub what: &'static str,
    /// The rule, as the rest of the sentence: `must be …`.
    pub reason: &'static str,
}

impl InvalidValue {
    pub const fn new(what: &'static str, reason: &'static str) -> Self {
        Self { what, reason }
    }
}
