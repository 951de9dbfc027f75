//! Violations of the protocol between server and worker.

/// A message that no worker of this program sends. The text says what is wrong, with the worker as its subject.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtocolViolation(pub String);
