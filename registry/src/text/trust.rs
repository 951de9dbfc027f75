//! The trust in a text: whether a stranger may have written it.

/// The trust in the result of a tool. A model must not follow instructions in an untrusted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The server wrote it.
    Trusted,
    Untrusted,
}
