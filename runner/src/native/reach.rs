//! Where a native tool can be called.

/// Where a native tool can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Everywhere,
    /// In a turn of a conversation. No specification lists the tool.
    Turns,
    /// By callers that have the family of the tool.
    Family,
}
