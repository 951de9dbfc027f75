//! Where a native tool can be called.

/// Where a native tool can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Everywhere,
    /// By callers that add the tool to those that they list. No catalogue lists it.
    Unlisted,
    /// By callers that have the family of the tool.
    Family,
}
