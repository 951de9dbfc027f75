//! The contents of git repositories that the servers of a database share.

mod contents;

pub(crate) use contents::folder_of_packs;
pub use contents::{DamagedPack, ReplacedPack, RepositoryContents, RepositoryGeneration, RepositoryLease, StoredPack};
