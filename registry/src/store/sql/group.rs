//! One commit for a group of writes.

use metrics::{counter, histogram};
use tokio::time::Instant;

use super::dialect::Connection;
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{COMMIT_SECONDS, COMMIT_WRITES, COMMITS_FAILED, number};
use crate::store::writer::Job;

/// Runs the jobs in one transaction and answers them. `false` when the transaction itself failed, and with it all.
pub(in crate::store) async fn commit_group(connection: &mut Connection, mut jobs: Vec<Box<dyn Job>>) -> bool {
    let began = Instant::now();
    let committed = transaction(connection, &mut jobs).await;
    histogram!(COMMIT_SECONDS).record(began.elapsed());
    histogram!(COMMIT_WRITES).record(number(jobs.len()));
    if let Err(error) = &committed {
        counter!(COMMITS_FAILED).increment(1);
        tracing::error!(%error, writes = jobs.len(), "a group of writes failed");
        // Often nothing is left to roll back; the connection is replaced anyway.
        let _ = execute(connection, "ROLLBACK").await;
    }
    let durable = committed.is_ok();
    for job in jobs {
        job.answer(committed.as_ref().copied().map_err(repeated));
    }
    durable
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

async fn execute(connection: &mut Connection, statement: &'static str) -> Result<()> {
    sqlx::query(statement).execute(connection).await?;
    Ok(())
}

/// The same failure once more, for the next caller. Whatever it was, nothing was written and later may be better.
fn repeated(error: &Error) -> Error {
    let detail = error.to_string();
    match error {
        Error::DatabaseBusy { detail } => Error::DatabaseBusy { detail: detail.clone() },
        Error::StorageFailing { detail } => Error::StorageFailing { detail: detail.clone() },
        other if other.kind() == ErrorKind::Corrupt => Error::Corrupt { what: "database", detail },
        _ => Error::StorageFailing { detail },
    }
}
