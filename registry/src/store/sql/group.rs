//! One commit for a group of writes. A write that fails does not affect the other writes of its group.

use metrics::{counter, histogram};
use tokio::time::Instant;

use super::dialect::{Connection, breaks_a_rule};
use super::record_event::RecordEvent;
use super::recorder::Recorder;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{COMMIT_SECONDS, COMMIT_WRITES, COMMITS_FAILED, EVENTS_REFUSED, number};
use crate::store::queued::{Job, RecordJob, Reply};

/// Runs the jobs in one transaction and replies to their callers. Fails when the transaction itself failed, and all jobs
/// with it. `on_commit` is called in any case, before the replies.
pub(crate) async fn commit_group(
    connection: &mut Connection,
    mut jobs: Vec<Box<dyn Job>>,
    on_commit: &(dyn Fn() + Send),
) -> Result<()> {
    let commit = Commit { began: Instant::now(), other_writes: 0 };
    let committed = transaction(connection, &mut jobs).await;
    on_commit();
    if committed.is_err() {
        // Often the transaction has ended already. The connection is replaced in any case.
        let _ = execute(connection, "ROLLBACK").await;
    }
    commit.reply_all(&committed, jobs);
    committed
}

/// Like [`commit_group`], for the record of runs: inserts the pending events, then runs the jobs.
pub(crate) fn commit_records(
    recorder: &Recorder,
    pending: &[RecordEvent],
    mut jobs: Vec<Box<dyn RecordJob>>,
) -> Result<()> {
    let commit = Commit { began: Instant::now(), other_writes: pending.len() };
    let committed = record_transaction(recorder, pending, &mut jobs);
    if committed.is_err() {
        let _ = recorder.execute("ROLLBACK", &[]);
    }
    commit.reply_all(&committed, jobs);
    committed
}

/// Runs each job within a savepoint. The statements between two jobs are sent together, because each call crosses to the
/// database's thread and back.
async fn transaction(connection: &mut Connection, jobs: &mut [Box<dyn Job>]) -> Result<()> {
    // Immediate: SQLite refuses, without waiting, to upgrade a transaction that began with a read.
    let (mut next, mut end) = ("BEGIN IMMEDIATE; SAVEPOINT job", "COMMIT");
    for job in &mut *jobs {
        execute(connection, next).await?;
        (next, end) = if job.apply(connection).await {
            ("RELEASE job; SAVEPOINT job", "COMMIT")
        } else {
            ("ROLLBACK TO job", "ROLLBACK TO job; COMMIT")
        };
    }
    execute(connection, end).await
}

/// Runs the whole group without savepoints first: a savepoint makes the full-text index write its pages, and writes to
/// the record hardly ever fail. When one fails, the group is rolled back and runs again with savepoints.
fn record_transaction(recorder: &Recorder, pending: &[RecordEvent], jobs: &mut [Box<dyn RecordJob>]) -> Result<()> {
    recorder.execute("BEGIN IMMEDIATE", &[])?;
    let are_inserted = RecordEvent::insert_all(pending, recorder).is_ok();
    if !(are_inserted && jobs.iter_mut().all(|job| job.apply(recorder))) {
        // Some failures have ended the transaction already. The write that failed fails again and reports its error.
        let _ = recorder.execute("ROLLBACK", &[]);
        recorder.execute("BEGIN IMMEDIATE", &[])?;
        pending.iter().try_for_each(|event| insert_pending(recorder, event))?;
        jobs.iter_mut().try_for_each(|job| with_savepoint(recorder, || Ok(job.apply(recorder))))?;
    }
    recorder.execute("COMMIT", &[]).map(drop)
}

/// Runs a write within a savepoint, and rolls it back when it returns `false`.
fn with_savepoint(recorder: &Recorder, write: impl FnOnce() -> Result<bool>) -> Result<()> {
    recorder.execute("SAVEPOINT entry", &[])?;
    if !write()? {
        recorder.execute("ROLLBACK TO entry", &[])?;
    }
    recorder.execute("RELEASE entry", &[]).map(drop)
}

/// Inserts an event that is durable in the journal. An event that violates a constraint of the database is dropped,
/// because it would block all later events. Any other failure may succeed later and is returned.
fn insert_pending(recorder: &Recorder, event: &RecordEvent) -> Result<()> {
    with_savepoint(recorder, || match event.insert(recorder) {
        Err(error) if breaks_a_rule(&error) => {
            counter!(EVENTS_REFUSED).increment(1);
            tracing::error!(%error, runs = event.runs(), "the database permanently refuses records of runs; they are lost");
            Ok(false)
        }
        inserted => inserted.map(|_| true),
    })
}

/// The measurements of one commit.
struct Commit {
    began: Instant,
    /// Number of writes without callers.
    other_writes: usize,
}

impl Commit {
    /// Replies to all callers of a group.
    fn reply_all<R: Reply + ?Sized>(&self, committed: &Result<()>, group: Vec<Box<R>>) {
        let writes = self.other_writes + group.len();
        histogram!(COMMIT_SECONDS).record(self.began.elapsed());
        histogram!(COMMIT_WRITES).record(number(writes));
        if let Err(error) = committed {
            counter!(COMMITS_FAILED).increment(1);
            tracing::error!(%error, writes, "a group of writes failed");
        }
        for write in group {
            write.reply(committed.as_ref().copied().map_err(repeated));
        }
    }
}

/// Replies to all callers of a group that was not tried.
pub(crate) fn fail_all<R: Reply + ?Sized>(group: Vec<Box<R>>, error: &Error) {
    for write in group {
        write.reply(Err(repeated(error)));
    }
}

async fn execute(connection: &mut Connection, statement: &'static str) -> Result<()> {
    sqlx::query(statement).execute(connection).await?;
    Ok(())
}

/// Copies an error for another caller of the group. Nothing was written, and a retry may succeed.
pub(crate) fn repeated(error: &Error) -> Error {
    let detail = error.to_string();
    match error {
        Error::DatabaseBusy { detail } => Error::DatabaseBusy { detail: detail.clone() },
        Error::StorageFailing { detail } => Error::StorageFailing { detail: detail.clone() },
        other if other.kind() == ErrorKind::Corrupt => Error::Corrupt { what: "database", detail },
        _ => Error::StorageFailing { detail },
    }
}
