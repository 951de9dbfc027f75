//! The names of refs.

/// The prefix of branches.
pub(crate) const BRANCHES: &str = "refs/heads/";
/// The branch with the scaffold.
pub(crate) const MAIN_REF: &str = "refs/heads/main";

/// The prefix of refs that only the service reads and writes. Clients do not see them.
pub(crate) const OWN_REFS: &str = "refs/lathe/";

/// The prefix of refs for commits that builds hold during a garbage collection. Pins are named after commits, so that no pin
/// has this prefix.
pub(crate) const HELD_REFS: &str = "refs/lathe/held/";
