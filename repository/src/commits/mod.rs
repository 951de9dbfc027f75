//! Commits: their ids, and what each names.

mod id;
mod links;

pub use id::{CommitId, InvalidCommitId};
pub(crate) use links::{CommitLinks, is_descendant, read_links, read_subject};
