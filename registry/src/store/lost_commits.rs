//! Commits whose result was lost with the connection. The database may have stored a write that failed for its caller, and that
//! nobody else would end. Another write takes it back.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::sleep;

use crate::error::{Error, Result};

/// Time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Writes that wait for the database: as many as one commit has callers, several times. The writes after them found no
/// connection, so that the database has not stored them.
const WAITING_MAX: usize = 1_024;

/// The bound on writes that wait.
pub(super) struct LostCommits(Arc<Semaphore>);

impl Default for LostCommits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(WAITING_MAX)))
    }
}

impl LostCommits {
    /// Repeats a write in the background until the database answers it, when the error of an earlier write leaves open whether
    /// that one was stored.
    pub fn after<F>(&self, error: &Error, write: impl Fn() -> F + Send + 'static)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        if !is_open(error) {
            return;
        }
        let Ok(permit) = self.0.clone().try_acquire_owned() else {
            tracing::error!(%error, "too many writes wait for the database; this one is not taken back");
            return;
        };
        tokio::spawn(async move {
            loop {
                sleep(PAUSE).await;
                match write().await {
                    Err(error) if is_open(&error) => tracing::debug!(%error, "a write cannot be taken back yet"),
                    _ => break,
                }
            }
            drop(permit);
        });
    }
}

const fn is_open(error: &Error) -> bool {
    matches!(error, Error::DatabaseUnavailable { .. } | Error::DatabaseBusy { .. })
}
