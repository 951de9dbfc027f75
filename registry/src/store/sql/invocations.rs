//! Recording runs. The start and the end of a run are inserted once and never changed.

use metrics::counter;

use super::operations;
use super::record_rows::{EndRow, RecordRows};
use super::row::{get, parsed};
use super::run_start::StartRow;
use super::unlink::Unlinking;
use crate::account::OrganizationId;
use crate::clock::Timestamp;
use crate::error::Result;
use crate::ids::{InvocationId, OperationId};
use crate::invalid_value::refuse_nul;
use crate::metrics::RECORDS;
use crate::record::{FinishedRun, ORPHANED, Outcome, RecordEvent, Rollback, RunEnd, RunStart};
use crate::store::database::{Query, Row};
use crate::store::handle::Store;

const ORPHANS: &str = "SELECT s.invocation, s.organization, s.started_at FROM inv_open o
    JOIN inv_started s ON s.invocation = o.invocation WHERE o.boot <> $1";

const RELEASE_LEASES: &str = "UPDATE tool_leases SET fence = fence + 1, operation = NULL, build = NULL, holder = NULL
    WHERE operation IS NOT NULL";

/// The message of a build that an earlier start of the server left open.
const ABANDONED: &str = "abandoned: the server stopped";

const FAIL_BUILDS: &str = "UPDATE builds SET state = 'failed', stage = 'lease', finished_at = $1, message = $2
    WHERE state = 'running'";

impl Store {
    /// Adds an event to the record of runs. It is durable and visible when this returns. Returns the number of its runs, for a
    /// rollback that of the runs which still had the ids.
    ///
    /// # Errors
    /// [`Error::AlreadyFinished`](crate::Error::AlreadyFinished) or [`Error::NotFound`](crate::Error::NotFound) name the first end of a run that was refused; the other ends are
    /// recorded all the same.
    pub async fn record(&self, event: &RecordEvent) -> Result<u64> {
        let (label, count) = match event {
            RecordEvent::Started { operation, runs } => {
                runs.iter().try_for_each(refuse_nul_in_ids)?;
                self.write_rows(self.start_rows(operation.as_ref(), runs)?).await?;
                ("start", runs.len())
            }
            RecordEvent::Finished(runs) => {
                self.write_rows(self.end_rows(runs)?).await?.map_or(Ok(()), Err)?;
                ("end", runs.len())
            }
            RecordEvent::Unlinked { organization, by, from } => {
                let (id, interaction) = match from {
                    Rollback::Conversation { id, interaction_id } => (id, interaction_id.as_deref()),
                    Rollback::Simulation { run_id } => (run_id, None),
                };
                refuse_nul("the id of a rollback", std::iter::once(id.as_str()).chain(interaction))?;
                let unlinking = Unlinking { organization, by, at: self.0.clock.now() };
                return self.write(unlinking.work(from)).await;
            }
        };
        counter!(RECORDS, "event" => label).increment(count as u64);
        Ok(count as u64)
    }

    fn start_rows(&self, operation: Option<&OperationId>, runs: &[RunStart]) -> Result<RecordRows> {
        let of = |index| operation.cloned().map(|operation| (operation, index));
        let rows = (0..).zip(runs).map(|(index, run)| StartRow::of(run, &self.0.boot, &of(index)));
        Ok(RecordRows::Started(rows.collect::<Result<_>>()?))
    }

    /// Ends the operations, leases, builds and runs that earlier starts of the server left open. Returns the number of runs.
    /// For a server that has just locked the data directory: an open run ended with its process.
    pub async fn close_orphans(&self) -> Result<u64> {
        let (boot, now) = (self.0.boot.clone(), self.0.clock.now());
        let found = self.write(move |connection| {
            Box::pin(async move {
                operations::close(connection, &boot, now).await?;
                Query::new(RELEASE_LEASES).execute(&mut *connection).await?;
                Query::new(FAIL_BUILDS)
                    .bind(now.as_milliseconds())
                    .bind(ABANDONED.as_bytes())
                    .execute(&mut *connection)
                    .await?;
                let rows = Query::new(ORPHANS).bind(boot.as_str()).fetch_all(&mut *connection).await?;
                rows.iter().map(Orphan::read).collect::<Result<Vec<_>>>()
            })
        });
        let orphans = found.await?;
        let closed = orphans.len() as u64;
        let ends: Vec<_> = orphans.into_iter().map(|orphan| orphan.ended(now)).collect();
        self.write_rows(self.end_rows(&ends)?).await?;
        Ok(closed)
    }

    fn end_rows(&self, ends: &[FinishedRun]) -> Result<RecordRows> {
        let rows = ends.iter().map(|end| EndRow::of(end, self.0.retention));
        Ok(RecordRows::Finished(rows.collect::<Result<_>>()?))
    }
}

fn refuse_nul_in_ids(run: &RunStart) -> Result<()> {
    let source = &run.source;
    let ids = [source.conversation_id(), source.interaction_id(), source.simulation_run_id(), source.user_id()];
    Ok(refuse_nul("the id of a conversation, a simulation or a user", ids.into_iter().flatten())?)
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

    fn ended(self, at: Timestamp) -> FinishedRun {
        let Self { id, organization, started_at } = self;
        let duration_ms = u64::try_from(at.as_milliseconds().saturating_sub(started_at)).unwrap_or(0);
        FinishedRun { id, organization, end: orphaned(at, duration_ms), tape: None, answers: None }
    }
}

fn orphaned(at: Timestamp, duration_ms: u64) -> RunEnd {
    let outcome = Outcome::Failed {
        exception_type: ORPHANED.to_owned(),
        exception_message: "the server stopped while the run was going on".to_owned(),
        exception_stack_trace: Vec::new(),
    };
    let (status_events, logs, ledger) = (Vec::new(), String::new(), None);
    RunEnd { at, duration_ms, outcome, persisted: false, status_events, logs, ledger }
}
