//! Operations on the history of runs.

mod call_effects;
pub(crate) mod cancel;
mod filter;
pub(crate) mod list;
pub(super) mod page;
pub(crate) mod replay;
pub(crate) mod rollback;
pub(crate) mod search;
pub(crate) mod show;
