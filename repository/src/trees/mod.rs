//! Trees of commits: the rules for names and modes, the bounds of sizes and counts, and contents that only stand for files.

mod inspector;
mod rules;
mod stand_in;

pub(crate) use inspector::{CONTENT_BYTES_MAX, TREE_OBJECT_BYTES_MAX};
pub use inspector::{DEPTH_MAX, ENTRIES_MAX, Extent, FILE_BYTES_MAX, Inspector, PATH_BYTES_MAX, TreeLimits};
pub(crate) use rules::fold;
pub use rules::{Reason, TreeRefusal};
pub(crate) use stand_in::POINTER_BYTES_MAX;
pub use stand_in::{StandIn, find_stand_in};
