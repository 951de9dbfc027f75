//! Writes the ends of records, and retries while the database does not accept writes.
//!
//! A run that has ended is not repeated, so its result and its caller wait for a stalled database. A record that cannot
//! be written in that time is closed without its outcome as soon as the database accepts writes.

use std::sync::Arc;
use std::time::Duration;

use registry::{FinishedRun, RecordEvent, RunEnd, RunId, Store, Timestamp};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::error::Error;
use crate::sandbox::outcome::failed;

/// Time in which retries start: as long as a stopping server waits for its runs. One try fails after some seconds.
const STALL_MAX: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(200);
/// Time between two tries to close a record whose caller no longer waits.
const LATER: Duration = Duration::from_secs(5);
/// Records that wait to be closed: many times the number of concurrent runs. Records beyond it are closed at the next
/// start.
const RETRIES_MAX: usize = 1_024;

/// Writes the ends of records. Clones share the bound on records that wait.
#[derive(Clone)]
pub(super) struct RecordRetries {
    store: Store,
    retry_permits: Arc<Semaphore>,
}

impl RecordRetries {
    pub fn new(store: Store) -> Self {
        Self { store, retry_permits: Arc::new(Semaphore::new(RETRIES_MAX)) }
    }

    /// Records the end of a run.
    ///
    /// # Errors
    /// When the end could not be recorded in time. The record is then closed without its outcome.
    pub async fn record_end(&self, run: FinishedRun) -> Result<(), Error> {
        let reduced = reduce_run(&run);
        let id = run.id.clone();
        let Err(error) = self.finish_with_retries(run).await else { return Ok(()) };
        tracing::error!(invocation = %id, %error, "the end of a run cannot be recorded; its record is closed without it");
        let reduced = RecordEvent::Finished(vec![reduced]);
        if let Err(error) = self.store.history().record(&reduced).await {
            tracing::error!(invocation = %id, %error, "a record cannot be closed now; it is closed later");
            self.close_later(reduced, id);
        }
        Err(error.into())
    }

    /// Writes the end of a record, with retries while the database is busy. A retry may find that an earlier try succeeded
    /// after all, or that another server closed the record because it saw no heartbeat of this one.
    async fn finish_with_retries(&self, run: FinishedRun) -> registry::Result<()> {
        let (id, organization, outcome) = (run.id.clone(), run.organization.clone(), run.end.outcome.clone());
        let end = &RecordEvent::Finished(vec![run]);
        let deadline = Instant::now() + STALL_MAX;
        let mut is_retry = false;
        loop {
            match self.store.history().record(end).await {
                Err(error) if is_for_now(&error) && Instant::now() < deadline => {
                    tracing::warn!(invocation = %id, %error, "the end of a run waits for the database");
                    sleep(PAUSE).await;
                    is_retry = true;
                }
                Err(registry::Error::AlreadyFinished { .. }) if is_retry => {
                    let record = self.store.history().get_invocation(&organization, &id).await?;
                    let recorded = record.and_then(|record| record.end).map(|end| end.outcome);
                    let detail = "another server closed the record".to_owned();
                    let is_kept = recorded.as_ref() == Some(&outcome);
                    return if is_kept { Ok(()) } else { Err(registry::Error::DatabaseUnavailable { detail }) };
                }
                written => return written.map(drop),
            }
        }
    }

    /// Closes the records of runs whose start was refused. A database that was lost during its commit may have them all the
    /// same.
    pub fn close_unstarted(&self, error: &registry::Error, started: RecordEvent) {
        let RecordEvent::Started { runs, .. } = started else { return };
        for run in runs.into_iter().filter(|_| is_for_now(error)) {
            let end = build_end(run.started_at, 0, false);
            let (id, organization) = (run.id.clone(), run.organization);
            let run = FinishedRun { id: run.id, organization, end, tape: None, answers: None };
            self.close_later(RecordEvent::Finished(vec![run]), id);
        }
    }

    fn close_later(&self, reduced: RecordEvent, id: RunId) {
        let Ok(permit) = self.retry_permits.clone().try_acquire_owned() else {
            tracing::error!(invocation = %id, "a record stays unfinished until the next start");
            return;
        };
        let retries = self.clone();
        tokio::spawn(async move {
            retries.close(reduced, id).await;
            drop(permit);
        });
    }

    /// Retries until the record or the store is closed.
    async fn close(&self, reduced: RecordEvent, id: RunId) {
        loop {
            sleep(LATER).await;
            match self.store.history().record(&reduced).await {
                Ok(_) => return tracing::info!(invocation = %id, "a record was closed without its outcome"),
                Err(
                    registry::Error::AlreadyFinished { .. }
                    | registry::Error::NotFound { .. }
                    | registry::Error::Closed,
                ) => return,
                Err(error) => tracing::debug!(invocation = %id, %error, "a record cannot be closed yet"),
            }
        }
    }
}

/// Whether the database may accept a write in a moment.
const fn is_for_now(error: &registry::Error) -> bool {
    matches!(error, registry::Error::DatabaseBusy { .. } | registry::Error::DatabaseUnavailable { .. })
}

/// The end of a record without the texts of its run, which may be the reason why the record cannot be written.
fn reduce_run(run: &FinishedRun) -> FinishedRun {
    let RunEnd { at, duration_ms, persisted, .. } = run.end;
    let end = build_end(at, duration_ms, persisted);
    FinishedRun { id: run.id.clone(), organization: run.organization.clone(), end, tape: None, answers: None }
}

fn build_end(at: Timestamp, duration_ms: u64, persisted: bool) -> RunEnd {
    let outcome = failed("record_failed", "the outcome could not be recorded");
    RunEnd {
        at,
        duration_ms,
        outcome,
        persisted,
        status_events: Vec::new(),
        logs: String::new(),
        content: Vec::new(),
        ledger: None,
        refused_at: None,
    }
}
