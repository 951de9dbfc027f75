//! The git repositories that the servers of a database share.

mod contents;
mod shared;

pub use contents::{DamagedPack, ReplacedPack, RepositoryContents, RepositoryGeneration, RepositoryLease, StoredPack};
pub use shared::{NamedPack, PackFile, SharedRepositories};
