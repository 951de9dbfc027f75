//! The origin of a run as an expression of its columns, for which there is an index.

/// The origin of the run `s`. The index `inv_started_by_origin` has the same expression.
macro_rules! origin {
    () => {
        "(CASE WHEN s.protocol = 'mcp' THEN 'mcp' WHEN s.protocol = 'rest' THEN 'agent'
            WHEN s.source_kind IN ('direct', 'branch-test') THEN s.source_kind ELSE 'conversation' END)"
    };
}
pub(super) use origin;
