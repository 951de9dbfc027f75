//! A change that callers of a tool may notice.

use std::fmt;

use registry::BumpKind;

/// A difference, with the smallest bump that covers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub bump: BumpKind,
    pub reason: String,
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.bump.as_str(), self.reason)
    }
}
