//! Statements about versions: publishing, leases, builds, attestations, and the version that a call runs.

mod attestations;
pub(super) mod build_queue;
mod builds;
mod callables;
mod collection;
mod handle;
pub(super) mod leases;
pub(super) mod list;
mod publish;
pub(in crate::store) mod version;

pub use handle::Versions;
