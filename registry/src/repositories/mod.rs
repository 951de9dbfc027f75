//! The contents of git repositories that the servers of a database share.

mod contents;

pub(crate) use contents::build_packs_folder;
pub use contents::{DamagedPack, ReplacedPack, RepositoryContents, RepositoryGeneration, RepositoryLease, StoredPack};
