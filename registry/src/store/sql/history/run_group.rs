//! The group of a run as an expression of its columns, for which there is an index.

/// The name of the group of the run `s`. The index `inv_started_by_group` has the same expression.
macro_rules! run_group {
    () => {
        "(coalesce(s.tool, '') || ' ' || CAST(coalesce(s.major, 0) AS TEXT) || '.' || CAST(coalesce(s.minor, 0) AS TEXT) || '.'
            || CAST(coalesce(s.patch, 0) AS TEXT) || CASE WHEN s.source_kind = 'simulation-conversation'
            OR (s.source_kind <> 'regular-conversation' AND s.mode = 'conversation-simulation') THEN ' simulation' ELSE '' END)"
    };
}
pub(super) use run_group;
