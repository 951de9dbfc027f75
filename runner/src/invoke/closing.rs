//! The second halves of records, when the database does not take them at once.
//!
//! A run that is over is not run again: what came of it waits for a database that stalls, and its caller with it. What
//! cannot be recorded even then is closed without its outcome as soon as the database takes anything.

use std::sync::Arc;
use std::time::Duration;

use registry::{Finished, InvocationFinished};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::Invoker;
use super::run::stored;
use crate::{Error, Outcome};

/// A try fails after some seconds. One more begins for so long, which is what a server that stops waits for its runs.
const STALL_MAX: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(200);
/// Between two tries to close a record whose caller waits no more.
const LATER: Duration = Duration::from_secs(5);
/// Records that are still to be closed, all that may run at once many times over. Those beyond it are closed at the next
/// start.
const UNCLOSED_MAX: usize = 1_024;

/// Records that are still to be closed.
#[derive(Clone)]
pub(super) struct Unclosed(Arc<Semaphore>);

impl Default for Unclosed {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(UNCLOSED_MAX)))
    }
}

impl Invoker {
    /// Keeps how a run ended.
    ///
    /// # Errors
    /// When it could not be kept. The record then says so at last.
    pub(super) async fn record_end(&self, finished: InvocationFinished) -> Result<(), Error> {
        let reduced = reduced(&finished);
        let Err(error) = self.finish_patiently(finished).await else { return Ok(()) };
        tracing::error!(invocation = %reduced.id, %error, "a record is written reduced");
        if let Err(error) = self.store.finish_invocations(vec![reduced.clone()]).await {
            tracing::error!(invocation = %reduced.id, %error, "a record is closed later");
            self.close_later(reduced);
        }
        Err(error.into())
    }

    /// Writes a record's second half, again and again while the database stalls.
    async fn finish_patiently(&self, finished: InvocationFinished) -> registry::Result<()> {
        let deadline = Instant::now() + STALL_MAX;
        let finished: Arc<[InvocationFinished]> = vec![finished].into();
        loop {
            match self.store.finish_invocations(finished.clone()).await {
                Err(error @ registry::Error::DatabaseBusy { .. }) if Instant::now() < deadline => {
                    tracing::warn!(invocation = %finished[0].id, %error, "the end of a run waits for the database");
                    sleep(PAUSE).await;
                }
                written => return written,
            }
        }
    }

    fn close_later(&self, reduced: InvocationFinished) {
        let Ok(place) = self.unclosed.0.clone().try_acquire_owned() else {
            tracing::error!(invocation = %reduced.id, "a record stays unfinished until the next start");
            return;
        };
        let invoker = self.clone();
        tokio::spawn(async move {
            invoker.close(reduced).await;
            drop(place);
        });
    }

    /// Tries until the record is closed or the store is.
    async fn close(&self, reduced: InvocationFinished) {
        loop {
            sleep(LATER).await;
            match self.store.finish_invocations(vec![reduced.clone()]).await {
                Ok(()) => return tracing::info!(invocation = %reduced.id, "a record was closed without its outcome"),
                Err(registry::Error::AlreadyFinished { .. } | registry::Error::Closed) => return,
                Err(error) => tracing::debug!(invocation = %reduced.id, %error, "a record cannot be closed yet"),
            }
        }
    }
}

/// The least that a record may say, so that none stays open because of what its run said.
fn reduced(finished: &InvocationFinished) -> InvocationFinished {
    let InvocationFinished { id, organization, finished: Finished { at, duration_ms, persisted, .. }, .. } = finished;
    let outcome = stored(Outcome::failed("record_failed", "the outcome could not be recorded"));
    let (status_events, logs, ledger) = (Vec::new(), String::new(), None);
    InvocationFinished {
        id: id.clone(),
        organization: organization.clone(),
        finished: Finished {
            at: *at,
            duration_ms: *duration_ms,
            outcome,
            persisted: *persisted,
            status_events,
            logs,
            ledger,
        },
        tape: None,
        answers: None,
    }
}
