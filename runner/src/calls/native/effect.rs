//! The effects of native tools.

/// The effect of a tool on the organisation's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    ReadOnly,
    /// A repeated call changes nothing more.
    Idempotent,
    Adds,
    Destroys,
}
