//! Why there is no document.

/// Why there is no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentRefused {
    /// The host does not answer as it should, or the operator does not permit it. The log has the reason.
    Unavailable,
    /// As many documents are read as may be.
    Busy,
    /// As many documents are read for this client as may be.
    TooManyOfClient { limit: usize },
}
