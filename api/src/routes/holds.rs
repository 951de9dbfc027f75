//! Legal holds: runs that stay in the history, however old they are.

pub(crate) mod list;
pub(crate) mod place;
pub(crate) mod release;
