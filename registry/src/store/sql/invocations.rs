//! Recording runs. The start and the end of a run are inserted once and never changed.

use metrics::counter;

use super::dialect::Row;
use super::operations;
use super::record_rows::{EndRow, RecordRows, StartRow};
use super::row::{get, parsed};
use crate::account::OrganizationId;
use crate::clock::Timestamp;
use crate::error::Result;
use crate::ids::{InvocationId, OperationId};
use crate::invocation::{Finished, InvocationFinished, InvocationOutcome, InvocationStarted, ORPHANED};
use crate::metrics::RECORDS;
use crate::store::handle::Store;

const ORPHANS: &str = "SELECT s.invocation, s.organization, s.started_at FROM inv_open o
    JOIN inv_started s ON s.invocation = o.invocation WHERE o.boot <> $1";

const RELEASE_LEASES: &str = "UPDATE tool_leases SET fence = fence + 1, operation = NULL, build = NULL, holder = NULL
    WHERE operation IS NOT NULL";

const FAIL_BUILDS: &str = "UPDATE builds SET state = 'failed', stage = 'lease', finished_at = $1,
    message = CAST('abandoned: the server stopped' AS BLOB) WHERE state = 'running'";

impl Store {
    /// Records the start of runs: of the inputs of an operation in their order, if they belong to one. All of them are
    /// durable when this returns, and none when it fails.
    pub async fn start_invocations(
        &self,
        operation: Option<OperationId>,
        started: Vec<InvocationStarted>,
    ) -> Result<()> {
        let count = started.len() as u64;
        let of = |index| operation.clone().map(|operation| (operation, index));
        let rows = (0..).zip(&started).map(|(index, record)| StartRow::of(record, &self.0.boot, &of(index)));
        self.record(RecordRows::Started(rows.collect::<Result<_>>()?)).await?;
        counter!(RECORDS, "event" => "start").increment(count);
        Ok(())
    }

    /// Records the end of runs. [`Error::AlreadyFinished`](crate::Error::AlreadyFinished) or
    /// [`Error::NotFound`](crate::Error::NotFound) names the first end that was refused; the others are durable all the
    /// same.
    pub async fn finish_invocations(&self, finished: &[InvocationFinished]) -> Result<()> {
        let refused = self.record(self.end_rows(finished)?).await?;
        counter!(RECORDS, "event" => "end").increment(finished.len() as u64);
        refused.map_or(Ok(()), Err)
    }

    /// Ends the operations, leases, builds and runs that earlier starts of the server left open. Returns the number of runs.
    /// For a server that has just locked the data directory: an open run ended with its process.
    pub async fn close_orphans(&self) -> Result<u64> {
        let (boot, now) = (self.0.boot.clone(), self.0.clock.now());
        let found = self.write(move |connection| {
            Box::pin(async move {
                operations::close(connection, &boot, now).await?;
                sqlx::query(RELEASE_LEASES).execute(&mut *connection).await?;
                sqlx::query(FAIL_BUILDS).bind(now.as_milliseconds()).execute(&mut *connection).await?;
                let rows = sqlx::query(ORPHANS).bind(boot.as_str()).fetch_all(&mut *connection).await?;
                rows.iter().map(Orphan::read).collect::<Result<Vec<_>>>()
            })
        });
        let orphans = found.await?;
        let closed = orphans.len() as u64;
        let ends: Vec<_> = orphans.into_iter().map(|orphan| orphan.ended(now)).collect();
        self.record(self.end_rows(&ends)?).await?;
        Ok(closed)
    }

    fn end_rows(&self, ends: &[InvocationFinished]) -> Result<RecordRows> {
        let rows = ends.iter().map(|end| EndRow::of(end, self.0.retention));
        Ok(RecordRows::Finished(rows.collect::<Result<_>>()?))
    }
}

/// A run that an earlier start of the server left open.
struct Orphan {
    id: InvocationId,
    organization: OrganizationId,
    started_at: i64,
}

impl Orphan {
    fn read(row: &Row) -> Result<Self> {
        let (id, organization) = (parsed(row, "invocation")?, parsed(row, "organization")?);
        Ok(Self { id, organization, started_at: get(row, "started_at")? })
    }

    fn ended(self, at: Timestamp) -> InvocationFinished {
        let Self { id, organization, started_at } = self;
        let duration_ms = u64::try_from(at.as_milliseconds().saturating_sub(started_at)).unwrap_or(0);
        InvocationFinished { id, organization, finished: orphaned(at, duration_ms), tape: None, answers: None }
    }
}

fn orphaned(at: Timestamp, duration_ms: u64) -> Finished {
    let outcome = InvocationOutcome::Failed {
        exception_type: ORPHANED.to_owned(),
        exception_message: "the server stopped while the run was going on".to_owned(),
        exception_stack_trace: Vec::new(),
    };
    let (status_events, logs, ledger) = (Vec::new(), String::new(), None);
    Finished { at, duration_ms, outcome, persisted: false, status_events, logs, ledger }
}
