//! Recording runs. Both halves of a record are inserted once and never touched again.

use std::sync::Arc;

use metrics::counter;

use super::answers::{self, Keeping};
use super::dialect::Connection;
use super::operations;
use super::row::{get, parsed, signed, to_json};
use super::search::index;
use super::tapes::{self, Place};
use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{BootId, InvocationId, OperationId};
use crate::invocation::{Finished, InvocationFinished, InvocationOutcome, InvocationStarted, ORPHANED};
use crate::ledger::Ledger;
use crate::metrics::RECORDS;
use crate::store::Store;

/// JSON bytes of the status events kept with a record; the events beyond it were streamed and are gone.
const STATUS_EVENTS_BYTES_MAX: usize = 256 * 1024;

const START: &str = "INSERT INTO inv_started (invocation, organization, tool, major, minor, patch, source_kind, source,
        conversation_id, interaction_id, simulation_run_id, mode, input, started_at, boot)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);
    INSERT INTO inv_open (invocation, organization, boot) VALUES ($1, $2, $15)";

/// Nothing is open of what was finished before, or never started.
const FINISH: &str = "DELETE FROM inv_open WHERE invocation = $2 AND organization = $1;
    INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output,
        exception_type, exception_message, exception_stack_trace, persisted, status_events, logs, ledger)
    SELECT invocation, organization, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM inv_started
    WHERE organization = $1 AND invocation = $2
    ON CONFLICT (invocation) DO NOTHING
    RETURNING sequence";

const EFFECT: &str = "INSERT INTO inv_effects (organization, kind, name, sequence) VALUES ($1, $2, $3, $4)";

const IS_STARTED: &str = "SELECT 1 FROM inv_started WHERE organization = $1 AND invocation = $2";

const ORPHANS: &str = "SELECT s.invocation, s.organization, s.started_at FROM inv_open o
    JOIN inv_started s ON s.invocation = o.invocation WHERE o.boot <> $1";

const FREE_TOOLS: &str = "UPDATE tool_leases SET fence = fence + 1, operation = NULL, build = NULL, holder = NULL
    WHERE operation IS NOT NULL";

const FAIL_BUILDS: &str = "UPDATE builds SET state = 'failed', stage = 'lease', finished_at = $1,
    message = CAST('abandoned: the server stopped' AS BLOB) WHERE state = 'running'";

impl Store {
    /// Keeps that runs begin. All of them are durable when this returns, and none when it fails.
    pub async fn start_invocations(&self, started: Vec<InvocationStarted>) -> Result<()> {
        self.start_invocations_of(None, started).await
    }

    /// As [`Store::start_invocations`], for the inputs of an operation in their order.
    pub async fn start_invocations_of(
        &self,
        operation: Option<OperationId>,
        started: Vec<InvocationStarted>,
    ) -> Result<()> {
        let (boot, count) = (self.0.boot.clone(), started.len() as u64);
        let written = self.write(move |connection| {
            Box::pin(async move {
                for (index, record) in started.iter().enumerate() {
                    start(connection, record, &boot).await?;
                    if let Some(operation) = &operation {
                        let run = (index, record.id.as_str());
                        operations::link_run(connection, &record.organization, operation, run).await?;
                    }
                }
                Ok(())
            })
        });
        written.await?;
        counter!(RECORDS, "half" => "start").increment(count);
        Ok(())
    }

    /// Keeps how runs ended. [`Error::AlreadyFinished`] or [`Error::NotFound`] names the first record that was
    /// refused; the others are durable all the same.
    pub async fn finish_invocations(&self, finished: impl Into<Arc<[InvocationFinished]>>) -> Result<()> {
        let finished = finished.into();
        let (retention, of_a_tool_max) = (self.0.config.tape_retention, self.0.config.recorded_answers_max);
        let written = self.write(move |connection| {
            Box::pin(async move {
                let (mut count, mut refused) = (0, None);
                for record in &*finished {
                    let refusal = finish(connection, &record.organization, &record.id, &record.finished).await?;
                    if let (None, Some(tape)) = (&refusal, &record.tape) {
                        let made_at = record.finished.at;
                        let (organization, run) = (&record.organization, &record.id);
                        let place = Place { organization, run, made_at, expires_at: made_at.after(retention) };
                        tapes::insert(connection, place, tape).await?;
                    }
                    if let (None, Some(found)) = (&refusal, &record.answers) {
                        let keeping = Keeping { organization: &record.organization, retention, of_a_tool_max };
                        keep_answers(connection, keeping, found).await?;
                    }
                    count += u64::from(refusal.is_none());
                    refused = refused.or(refusal);
                }
                Ok((count, refused))
            })
        });
        let (count, refused) = written.await?;
        counter!(RECORDS, "half" => "end").increment(count);
        refused.map_or(Ok(()), Err)
    }

    /// Ends what earlier starts of the server left behind, operations first, and says how many runs that were. For a server that has
    /// just locked the data directory: whatever still seems to run died with its process.
    pub async fn close_orphans(&self) -> Result<u64> {
        let (boot, now) = (self.0.boot.clone(), self.0.clock.now());
        self.write(move |connection| {
            Box::pin(async move {
                operations::close(connection, &boot, now).await?;
                sqlx::query(FREE_TOOLS).execute(&mut *connection).await?;
                sqlx::query(FAIL_BUILDS).bind(now.as_milliseconds()).execute(&mut *connection).await?;
                let orphans = sqlx::query(ORPHANS).bind(boot.as_str()).fetch_all(&mut *connection).await?;
                for row in &orphans {
                    let duration_ms = now.as_milliseconds().saturating_sub(get(row, "started_at")?);
                    let organization = parsed(row, "organization")?;
                    let id = parsed(row, "invocation")?;
                    let ended = orphaned(now, u64::try_from(duration_ms).unwrap_or(0));
                    finish(connection, &organization, &id, &ended).await?;
                }
                Ok(orphans.len() as u64)
            })
        })
        .await
    }
}

async fn start(connection: &mut Connection, record: &InvocationStarted, boot: &BootId) -> Result<()> {
    let version = record.tool_version;
    let query = sqlx::query(START).bind(record.id.as_str()).bind(record.organization.as_str());
    let query = query.bind(record.tool.as_ref().map(|tool| tool.as_str()));
    let query = query.bind(version.map(|v| signed(v.major))).bind(version.map(|v| signed(v.minor)));
    let query = query.bind(version.map(|v| signed(v.patch))).bind(record.source.kind().as_str());
    let query = query.bind(to_json(&record.source)?).bind(record.source.conversation_id());
    let query = query.bind(record.source.interaction_id()).bind(record.source.simulation_run_id());
    let query = query.bind(record.mode.as_str()).bind(to_json(&record.input)?);
    let query = query.bind(record.started_at.as_milliseconds()).bind(boot.as_str());
    query.execute(connection).await?;
    Ok(())
}

/// Inserts the second half, or says why not.
async fn finish(
    connection: &mut Connection,
    organization: &OrganizationId,
    id: &InvocationId,
    finished: &Finished,
) -> Result<Option<Error>> {
    let columns = Columns::of(&finished.outcome)?;
    let query = sqlx::query(FINISH).bind(organization.as_str()).bind(id.as_str());
    let query = query.bind(finished.at.as_milliseconds()).bind(signed(finished.duration_ms));
    let query = query.bind(columns.succeeded).bind(columns.output).bind(columns.exception_type);
    let query = query.bind(columns.exception_message).bind(columns.exception_stack_trace);
    let query = query.bind(finished.persisted).bind(status_events(&finished.status_events)?);
    let query = query.bind(finished.logs.clone().into_bytes());
    let query = query.bind(finished.ledger.as_ref().map(to_json).transpose()?);
    let Some(row) = query.fetch_optional(&mut *connection).await? else {
        return refusal(connection, organization, id).await.map(Some);
    };
    let sequence = get(&row, "sequence")?;
    index(connection, sequence, organization, &finished.outcome).await?;
    for effect in finished.ledger.iter().flat_map(Ledger::effects) {
        let query = sqlx::query(EFFECT).bind(organization.as_str()).bind(effect.kind.as_str()).bind(effect.name);
        query.bind(sequence).execute(&mut *connection).await?;
    }
    Ok(None)
}

/// The record of a run counts more than what simulations may have of it.
async fn keep_answers(connection: &mut Connection, keeping: Keeping<'_>, found: &NewAnswers) -> Result<()> {
    match answers::keep(connection, keeping, found).await {
        // Then the record cannot be kept, either.
        Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
        Err(error) => {
            tracing::error!(%error, "recorded answers cannot be kept");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

async fn refusal(connection: &mut Connection, organization: &OrganizationId, id: &InvocationId) -> Result<Error> {
    let query = sqlx::query(IS_STARTED).bind(organization.as_str()).bind(id.as_str());
    let started = query.fetch_optional(connection).await?.is_some();
    let finished = Error::AlreadyFinished { invocation: id.clone() };
    Ok(if started { finished } else { Error::NotFound { what: "invocation" } })
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

/// An outcome as columns. Texts are bytes, because a database may refuse some of the characters that tools write.
#[derive(Default)]
struct Columns {
    succeeded: bool,
    output: Option<Vec<u8>>,
    exception_type: Option<Vec<u8>>,
    exception_message: Option<Vec<u8>>,
    exception_stack_trace: Option<Vec<u8>>,
}

impl Columns {
    fn of(outcome: &InvocationOutcome) -> Result<Self> {
        Ok(match outcome {
            InvocationOutcome::Succeeded { output } => {
                Self { succeeded: true, output: Some(output.clone().into_bytes()), ..Self::default() }
            }
            InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => Self {
                exception_type: Some(exception_type.clone().into_bytes()),
                exception_message: Some(exception_message.clone().into_bytes()),
                exception_stack_trace: Some(to_json(exception_stack_trace)?.into_bytes()),
                ..Self::default()
            },
        })
    }
}

/// The events as one JSON array, without those beyond the bound.
fn status_events(events: &[serde_json::Value]) -> Result<String> {
    let mut kept: Vec<&serde_json::Value> = Vec::new();
    let mut bytes = 0;
    for event in events {
        bytes += to_json(event)?.len() + 1;
        if bytes > STATUS_EVENTS_BYTES_MAX {
            break;
        }
        kept.push(event);
    }
    to_json(&kept)
}
