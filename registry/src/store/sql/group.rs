//! One commit for a group of writes. A write that fails does not affect the other writes of its group.

use metrics::{counter, histogram};
use tokio::time::Instant;

use super::history::insert_records::RecordGroup;
use super::history::record_rows::RecordRows;
use super::kit::batch::Batch;
use super::kit::list::List;
use super::kit::row::to_json;
use super::tools::tool_changes;
use crate::error::{Error, ErrorKind, Result};
use crate::kit::ids::BootId;
use crate::kit::metrics::{COMMIT_SECONDS, COMMIT_WRITES, COMMITS_FAILED, to_number};
use crate::store::changes::{Change, write_notice};
use crate::store::database::{Connection, Query};
use crate::store::queued::{Job, QueuedRecord};
use crate::store::retention::Retention;

/// Begins a transaction that inserts into the record of runs only. Nothing else changes its rows.
const BEGIN: &str = "{begin}";

/// Begins a transaction with other writes. They read before they write, so only one such transaction runs at a time.
const BEGIN_ALONE: &str = "{begin alone}";

/// Tells other servers of changes, when the transaction commits.
const ANNOUNCE: &str = "SELECT {notify notices.value} AS announced FROM {members $1} notices";

/// The writes of one commit: the record of runs, and all others.
#[derive(Default)]
pub(crate) struct Group {
    pub records: Vec<QueuedRecord>,
    pub jobs: Vec<Box<dyn Job>>,
    /// The changes that the jobs named, each once.
    pub changes: Vec<Change>,
}

impl Group {
    pub fn len(&self) -> usize {
        self.records.len() + self.jobs.len()
    }

    /// Runs the writes in one transaction. Fails when the transaction itself failed, and all writes with it. The callers
    /// get their results from [`Group::reply`].
    pub async fn commit(
        &mut self,
        connection: &mut Connection,
        retention: Retention,
        announces_as: Option<&BootId>,
    ) -> Result<()> {
        let began = Instant::now();
        let committed = self.run_transaction(connection, retention, announces_as).await;
        histogram!(COMMIT_SECONDS).record(began.elapsed());
        histogram!(COMMIT_WRITES).record(to_number(self.len()));
        if let Err(error) = &committed {
            counter!(COMMITS_FAILED).increment(1);
            tracing::error!(%error, writes = self.len(), "a group of writes failed");
            // Often the transaction has ended already. The connection is replaced in any case.
            let _ = execute(connection, "ROLLBACK").await;
        }
        committed
    }

    const fn begin(&self) -> &'static str {
        if self.jobs.is_empty() { BEGIN } else { BEGIN_ALONE }
    }

    /// Replies to all callers.
    pub fn reply(self, committed: &Result<()>) {
        let committed = || committed.as_ref().copied().map_err(copy_error);
        self.records.into_iter().for_each(|record| record.reply(committed()));
        self.jobs.into_iter().for_each(|job| job.reply(committed()));
    }

    async fn run_transaction(
        &mut self,
        connection: &mut Connection,
        retention: Retention,
        announces_as: Option<&BootId>,
    ) -> Result<()> {
        if self.records.is_empty() {
            execute(connection, BEGIN_ALONE).await?;
            return self.run_jobs(connection, announces_as).await;
        }
        match self.insert_records(connection, retention).await {
            Err(error) if is_of_the_rows(&error) => {
                execute(connection, "ROLLBACK").await?;
                execute(connection, self.begin()).await?;
                for record in &mut self.records {
                    record.result = insert_alone(connection, &mut record.rows, retention).await?;
                }
                self.run_jobs(connection, announces_as).await
            }
            Ok(()) if self.jobs.is_empty() => Ok(()),
            Ok(()) => self.run_jobs(connection, announces_as).await,
            failed => failed,
        }
    }

    /// Runs each job within a savepoint, and commits. The statements between two jobs are sent together, because each call
    /// crosses to the database's thread and back.
    async fn run_jobs(&mut self, connection: &mut Connection, announces_as: Option<&BootId>) -> Result<()> {
        let (mut next, mut end) = ("SAVEPOINT job", None);
        for job in &mut self.jobs {
            execute(connection, next).await?;
            let has_succeeded = job.apply(connection).await;
            let named = connection.take_changes();
            (next, end) = if has_succeeded {
                let new: Vec<_> = named.into_iter().filter(|change| !self.changes.contains(change)).collect();
                self.changes.extend(new);
                ("RELEASE job; SAVEPOINT job", None)
            } else {
                ("ROLLBACK TO job", Some("ROLLBACK TO job"))
            };
        }
        let mut batch = Batch::default();
        end.into_iter().for_each(|end| batch.push(end));
        batch.insert(tool_changes::COUNT, tool_changes::list_changed_organizations(&self.changes)?);
        if let Some(boot) = announces_as {
            let mut notices = List::default();
            for change in &self.changes {
                notices.push(&to_json(&write_notice(boot, change))?);
            }
            batch.insert(ANNOUNCE, notices);
        }
        batch.push("COMMIT");
        batch.run(connection).await
    }

    /// Inserts the rows of the whole group with one statement for each table. Commits when the group has no jobs.
    async fn insert_records(&mut self, connection: &mut Connection, retention: Retention) -> Result<()> {
        let members = self.records.iter().map(|record| &record.rows).collect();
        let mut batch = Batch::default();
        batch.push(self.begin());
        let refused = RecordGroup { members, retention }.insert(connection, &mut batch).await?;
        if self.jobs.is_empty() {
            batch.push("COMMIT");
        }
        batch.run(connection).await?;
        self.records.iter_mut().zip(refused).for_each(|(record, refused)| record.result = Ok(refused));
        Ok(())
    }
}

/// Whether rows of the group are the reason of an error, not the disk or another process.
const fn is_of_the_rows(error: &Error) -> bool {
    matches!(error, Error::Database { .. })
}

/// Inserts the rows of one caller, without their recorded answers when these are the reason why it fails. The inner result
/// is that of the caller, the outer one that of the transaction.
async fn insert_alone(
    connection: &mut Connection,
    rows: &mut RecordRows,
    retention: Retention,
) -> Result<Result<Option<Error>>> {
    loop {
        match insert_within_savepoint(connection, rows, retention).await {
            Err(error) if is_of_the_rows(&error) => {
                execute(connection, "ROLLBACK TO entry; RELEASE entry").await?;
                if !rows.take_answers() {
                    return Ok(Err(error));
                }
                tracing::error!(%error, "recorded answers could not be stored");
            }
            inserted => return inserted.map(Ok),
        }
    }
}

async fn insert_within_savepoint(
    connection: &mut Connection,
    rows: &RecordRows,
    retention: Retention,
) -> Result<Option<Error>> {
    let mut batch = Batch::default();
    batch.push("SAVEPOINT entry");
    let mut refused = RecordGroup { members: vec![rows], retention }.insert(connection, &mut batch).await?;
    batch.push("RELEASE entry");
    batch.run(connection).await?;
    Ok(refused.pop().flatten())
}

async fn execute(connection: &mut Connection, statement: &'static str) -> Result<()> {
    connection.run_all(vec![Query::new(statement)]).await?;
    Ok(())
}

/// Copies an error for another caller of the group. A retry may succeed. Nothing was written, unless the connection was lost:
/// then the database may have committed before.
fn copy_error(error: &Error) -> Error {
    let detail = error.to_string();
    match error {
        Error::DatabaseBusy { detail } => Error::DatabaseBusy { detail: detail.clone() },
        Error::DatabaseUnavailable { detail } => Error::DatabaseUnavailable { detail: detail.clone() },
        Error::StorageFailing { detail } => Error::StorageFailing { detail: detail.clone() },
        other if other.kind() == ErrorKind::Corrupt => Error::Corrupt { what: "database", detail },
        _ => Error::StorageFailing { detail },
    }
}
