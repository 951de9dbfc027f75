//! What the database and the artifacts store together: recordings of runs, and the git repositories that servers share.

mod recordings;
mod shared_repositories;

pub use recordings::Recordings;
pub use shared_repositories::{NamedPack, PackFile, SharedRepositories};
