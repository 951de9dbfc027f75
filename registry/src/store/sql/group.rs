//! One commit for a group of writes.
//!
//! A write that fails leaves the others of its group as they are.

use metrics::{counter, histogram};
use tokio::time::Instant;

use super::dialect::{Connection, breaks_a_rule};
use super::halves::Halves;
use super::recorder::Recorder;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{COMMIT_SECONDS, COMMIT_WRITES, COMMITS_FAILED, HALVES_REFUSED, number};
use crate::store::queued::{Answer, Entry, Job};

/// Runs the jobs in one transaction and answers them. An error when the transaction itself failed, and with it all.
/// Whatever became of it, `changed` is called before anybody hears.
pub(in crate::store) async fn commit_group(
    connection: &mut Connection,
    mut jobs: Vec<Box<dyn Job>>,
    changed: &(dyn Fn() + Send),
) -> Result<()> {
    let began = Instant::now();
    let committed = transaction(connection, &mut jobs).await;
    changed();
    if committed.is_err() {
        // Often nothing is left to roll back; the connection is replaced anyway.
        let _ = execute(connection, "ROLLBACK").await;
    }
    tell(began, &committed, 0, jobs);
    committed
}

/// As [`commit_group`], for what goes into the record of runs, after what comes to it late.
pub(in crate::store) fn commit_entries(
    recorder: &Recorder<'_>,
    late: &[Halves],
    mut entries: Vec<Box<dyn Entry>>,
) -> Result<()> {
    let began = Instant::now();
    let committed = recorded(recorder, late, &mut entries);
    if committed.is_err() {
        let _ = recorder.execute("ROLLBACK", &[]);
    }
    tell(began, &committed, late.len(), entries);
    committed
}

/// Statements between two jobs go together: each has a way to the database's thread and back.
async fn transaction(connection: &mut Connection, jobs: &mut [Box<dyn Job>]) -> Result<()> {
    // Immediate: a transaction that starts by reading and then writes would be refused at once, without waiting.
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

/// Entries hardly ever fail, and a savepoint makes the index of words write: they are made without, and in case one
/// fails all once more with.
fn recorded(recorder: &Recorder<'_>, late: &[Halves], entries: &mut [Box<dyn Entry>]) -> Result<()> {
    recorder.execute("BEGIN IMMEDIATE", &[])?;
    let late_entered = Halves::enter_all(late, recorder).is_ok();
    if !(late_entered && entries.iter_mut().all(|entry| entry.apply(recorder))) {
        // Some failures have ended the transaction already; what failed fails once more, and says so.
        let _ = recorder.execute("ROLLBACK", &[]);
        recorder.execute("BEGIN IMMEDIATE", &[])?;
        late.iter().try_for_each(|halves| late_apart(recorder, halves))?;
        entries.iter_mut().try_for_each(|entry| apart(recorder, || Ok(entry.apply(recorder))))?;
    }
    recorder.execute("COMMIT", &[]).map(drop)
}

/// One entry, and nothing of it when it fails.
fn apart(recorder: &Recorder<'_>, enter: impl FnOnce() -> Result<bool>) -> Result<()> {
    recorder.execute("SAVEPOINT entry", &[])?;
    if !enter()? {
        recorder.execute("ROLLBACK TO entry", &[])?;
    }
    recorder.execute("RELEASE entry", &[]).map(drop)
}

/// Halves of records that are durable in the journal. Those that break a rule of the database are given up, because they
/// would keep all behind them; whatever else fails may be better later.
fn late_apart(recorder: &Recorder<'_>, halves: &Halves) -> Result<()> {
    apart(recorder, || match halves.enter(recorder) {
        Err(error) if breaks_a_rule(&error) => {
            counter!(HALVES_REFUSED).increment(1);
            tracing::error!(%error, runs = halves.runs(), "the database refuses halves of records for good");
            Ok(false)
        }
        entered => entered.map(|_| true),
    })
}

/// Answers everybody in a group, which had others beside them that were told before.
fn tell<A: Answer + ?Sized>(began: Instant, committed: &Result<()>, others: usize, group: Vec<Box<A>>) {
    let writes = others + group.len();
    histogram!(COMMIT_SECONDS).record(began.elapsed());
    histogram!(COMMIT_WRITES).record(number(writes));
    if let Err(error) = committed {
        counter!(COMMITS_FAILED).increment(1);
        tracing::error!(%error, writes, "a group of writes failed");
    }
    for one in group {
        one.answer(committed.as_ref().copied().map_err(repeated));
    }
}

/// Answers everybody in a group of which nothing was tried.
pub(in crate::store) fn refuse<A: Answer + ?Sized>(group: Vec<Box<A>>, error: &Error) {
    for one in group {
        one.answer(Err(repeated(error)));
    }
}

async fn execute(connection: &mut Connection, statement: &'static str) -> Result<()> {
    sqlx::query(statement).execute(connection).await?;
    Ok(())
}

/// The same failure once more, for the next caller. Whatever it was, nothing was written and later may be better.
pub(in crate::store) fn repeated(error: &Error) -> Error {
    let detail = error.to_string();
    match error {
        Error::DatabaseBusy { detail } => Error::DatabaseBusy { detail: detail.clone() },
        Error::StorageFailing { detail } => Error::StorageFailing { detail: detail.clone() },
        other if other.kind() == ErrorKind::Corrupt => Error::Corrupt { what: "database", detail },
        _ => Error::StorageFailing { detail },
    }
}
