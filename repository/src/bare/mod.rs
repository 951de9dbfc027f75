//! One bare repository: its branches and pins, its files, its size, and its state in this process.

mod files;
mod repository;
mod state;
mod usage;

pub use files::complete_repository;
pub(crate) use files::{hook_path, sync_below, write_hook, write_repository};
pub use repository::{HeldCommit, Repository};
pub(crate) use repository::{pin_reference, require};
pub(crate) use state::{RepositoryState, TrackedRepository};
pub(crate) use usage::{Usage, format_bytes, measure_bytes, measure_usage};
