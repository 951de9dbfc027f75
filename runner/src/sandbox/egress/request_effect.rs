//! Whether a request may change something.

/// The effect that a request may have on its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestEffect {
    /// The request only reads.
    Nothing,
    /// The method or the body may change something.
    Change,
    /// The method only reads, but this part of the request asks the server for another method.
    Override(String),
}
