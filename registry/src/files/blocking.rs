//! File operations and digests of large contents, off the threads of the runtime.

use crate::error::{Error, Result};

pub async fn off_the_runtime<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let finished = tokio::task::spawn_blocking(work).await;
    finished.unwrap_or_else(|error| Err(Error::StorageFailing { detail: error.to_string() }))
}
