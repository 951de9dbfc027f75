//! Work that waits for a disk.

use tokio::task::{JoinError, spawn_blocking};

use crate::error::Error;

/// Runs work on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let lost = |error: JoinError| Error::Io { action: "work on a repository", source: error.into() };
    spawn_blocking(work).await.map_err(lost)?
}
