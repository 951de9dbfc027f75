//! Error codes that several operations share.

/// An error status with its codes.
pub(super) type StatusAndCodes = (u16, &'static [&'static str]);

/// Codes that every operation on the database can return.
pub const STORE_CODES: &[&str] =
    &["shutting_down", "storage_failing", "database_busy", "database_unavailable", "store_closed"];

/// Codes with which a build is refused for now.
pub const BUILD_CODES: &[&str] =
    &["overloaded", "no_build_worker", "build_worker_lost", "process_lost", "repository_damaged"];

/// Codes of a branch, a commit or a directory that the organisation's repository does not have.
pub const MISSING_SOURCE_CODES: &[&str] = &["unknown_branch", "unknown_commit", "missing_project_directory"];

/// Errors of an operation that builds and runs the tip of a branch.
pub(super) const BRANCH_ERRORS: [StatusAndCodes; 4] = [
    (400, &["build_failed", "input_schema", "refused_tree", "component_rejected", "variable_missing"]),
    (404, MISSING_SOURCE_CODES),
    (429, &["too_many_runs", "too_many_builds"]),
    (503, BUILD_CODES),
];
