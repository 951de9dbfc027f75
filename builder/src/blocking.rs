//! Work that computes for long or waits for a disk.

use crate::error::Error;

/// Runs work on a thread for blocking work.
///
/// # Errors
/// When the work panics.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}
