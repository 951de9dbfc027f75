//! Where a native tool can be called.

use registry::LibraryFamily;

/// Where a native tool can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Through every agent.
    Everywhere,
    /// Within a turn of a conversation. No specification lists the tool.
    Turns,
    /// Through agents that have the family.
    Library(LibraryFamily),
}
