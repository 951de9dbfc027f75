//! The history of runs.

mod filter;
pub(crate) mod list;
pub(crate) mod rollback;
pub(crate) mod search;
pub(crate) mod show;
mod wire;
