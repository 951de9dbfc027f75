//! Recording runs. Both halves of a record are inserted once and never touched again.

use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use rusqlite::types::ToSql;

use super::answers::{self, Keeping};
use super::dialect::Row;
use super::operations;
use super::recorder::Recorder;
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
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";

const OPEN: &str = "INSERT INTO inv_open (invocation, organization, boot) VALUES ($1, $2, $3)";

/// Nothing is open of what was finished before, or never started.
const CLOSE: &str = "DELETE FROM inv_open WHERE organization = $1 AND invocation = $2";

const FINISH: &str = "INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output,
        exception_type, exception_message, exception_stack_trace, persisted, status_events, logs, ledger)
    SELECT invocation, organization, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM inv_started
    WHERE organization = $12 AND invocation = $13
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
        let written = self.record(move |recorder| {
            for (index, record) in started.iter().enumerate() {
                start(recorder, record, &boot)?;
                if let Some(operation) = &operation {
                    operations::link_run(recorder, &record.organization, operation, (index, &record.id))?;
                }
            }
            Ok(())
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
        let written = self.record(move |recorder| {
            let (mut count, mut refused) = (0, None);
            for record in &*finished {
                match finish(recorder, &record.organization, &record.id, &record.finished)? {
                    Some(refusal) => refused = refused.or(Some(refusal)),
                    None => {
                        keep_beside(recorder, record, retention, of_a_tool_max)?;
                        count += 1;
                    }
                }
            }
            Ok((count, refused))
        });
        let (count, refused) = written.await?;
        counter!(RECORDS, "half" => "end").increment(count);
        refused.map_or(Ok(()), Err)
    }

    /// Ends what earlier starts of the server left behind, operations first, and says how many runs that were. For a server that has
    /// just locked the data directory: whatever still seems to run died with its process.
    pub async fn close_orphans(&self) -> Result<u64> {
        let (boot, now) = (self.0.boot.clone(), self.0.clock.now());
        let found = self.write(move |connection| {
            Box::pin(async move {
                operations::close(connection, &boot, now).await?;
                sqlx::query(FREE_TOOLS).execute(&mut *connection).await?;
                sqlx::query(FAIL_BUILDS).bind(now.as_milliseconds()).execute(&mut *connection).await?;
                let rows = sqlx::query(ORPHANS).bind(boot.as_str()).fetch_all(&mut *connection).await?;
                rows.iter().map(Orphan::read).collect::<Result<Vec<_>>>()
            })
        });
        let orphans = found.await?;
        let close = move |recorder: &Recorder| {
            for Orphan { id, organization, started_at } in &orphans {
                let duration_ms = now.as_milliseconds().saturating_sub(*started_at);
                let ended = orphaned(now, u64::try_from(duration_ms).unwrap_or(0));
                finish(recorder, organization, id, &ended)?;
            }
            Ok(orphans.len() as u64)
        };
        self.record(close).await
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
}

fn start(recorder: &Recorder, record: &InvocationStarted, boot: &BootId) -> Result<()> {
    let (id, organization, boot) = (record.id.as_str(), record.organization.as_str(), boot.as_str());
    let tool = record.tool.as_ref().map(|tool| tool.as_str());
    let version = record.tool_version.map(|version| [version.major, version.minor, version.patch].map(signed));
    let [major, minor, patch] = version.map_or([None; 3], |numbers| numbers.map(Some));
    let (source, input) = (to_json(&record.source)?, to_json(&record.input)?);
    let (conversation, interaction) = (record.source.conversation_id(), record.source.interaction_id());
    recorder.execute(
        START,
        &[
            &id,
            &organization,
            &tool,
            &major,
            &minor,
            &patch,
            &record.source.kind().as_str(),
            &source,
            &conversation,
            &interaction,
            &record.source.simulation_run_id(),
            &record.mode.as_str(),
            &input,
            &record.started_at.as_milliseconds(),
            &boot,
        ],
    )?;
    recorder.execute(OPEN, &[&id, &organization, &boot]).map(drop)
}

/// Inserts the second half, or says why not.
fn finish(
    recorder: &Recorder,
    organization: &OrganizationId,
    id: &InvocationId,
    finished: &Finished,
) -> Result<Option<Error>> {
    let of = (organization.as_str(), id.as_str());
    recorder.execute(CLOSE, &[&of.0, &of.1])?;
    let Some(sequence) = recorder.number(FINISH, &Columns::of(finished)?.values(&of))? else {
        return refusal(recorder, organization, id).map(Some);
    };
    index(recorder, sequence, organization, &finished.outcome)?;
    for effect in finished.ledger.iter().flat_map(Ledger::effects) {
        recorder.execute(EFFECT, &[&of.0, &effect.kind.as_str(), &effect.name, &sequence])?;
    }
    Ok(None)
}

/// Keeps what stands beside a record in the same transaction.
fn keep_beside(
    recorder: &Recorder,
    record: &InvocationFinished,
    retention: Duration,
    of_a_tool_max: u32,
) -> Result<()> {
    let (organization, run, made_at) = (&record.organization, &record.id, record.finished.at);
    if let Some(tape) = &record.tape {
        let place = Place { organization, run, made_at, expires_at: made_at.after(retention) };
        tapes::insert(recorder, place, tape)?;
    }
    match &record.answers {
        Some(found) => keep_answers(recorder, Keeping { organization, retention, of_a_tool_max }, found),
        None => Ok(()),
    }
}

/// The record of a run counts more than what simulations may have of it.
fn keep_answers(recorder: &Recorder, keeping: Keeping<'_>, found: &NewAnswers) -> Result<()> {
    match answers::keep(recorder, keeping, found) {
        // Then the record cannot be kept, either.
        Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
        Err(error) => {
            tracing::error!(%error, "recorded answers cannot be kept");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn refusal(recorder: &Recorder, organization: &OrganizationId, id: &InvocationId) -> Result<Error> {
    let started = recorder.number(IS_STARTED, &[&organization.as_str(), &id.as_str()])?.is_some();
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

/// The second half as columns. Texts that a tool made are bytes, because a database may refuse some of the characters that
/// tools write.
struct Columns<'a> {
    at: i64,
    duration_ms: i64,
    succeeded: bool,
    output: Option<&'a [u8]>,
    exception_type: Option<&'a [u8]>,
    exception_message: Option<&'a [u8]>,
    exception_stack_trace: Option<Vec<u8>>,
    persisted: bool,
    status_events: String,
    logs: &'a [u8],
    ledger: Option<String>,
}

impl<'a> Columns<'a> {
    fn of(finished: &'a Finished) -> Result<Self> {
        let (succeeded, output, kind, message, trace) = match &finished.outcome {
            InvocationOutcome::Succeeded { output } => (true, Some(output), None, None, None),
            InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                (false, None, Some(exception_type), Some(exception_message), Some(exception_stack_trace))
            }
        };
        Ok(Self {
            at: finished.at.as_milliseconds(),
            duration_ms: signed(finished.duration_ms),
            succeeded,
            output: output.map(String::as_bytes),
            exception_type: kind.map(String::as_bytes),
            exception_message: message.map(String::as_bytes),
            exception_stack_trace: trace.map(to_json).transpose()?.map(String::into_bytes),
            persisted: finished.persisted,
            status_events: status_events(&finished.status_events)?,
            logs: finished.logs.as_bytes(),
            ledger: finished.ledger.as_ref().map(to_json).transpose()?,
        })
    }

    /// As [`FINISH`] wants them, of an organisation's run.
    fn values<'v>(&'v self, of: &'v (&'v str, &'v str)) -> [&'v dyn ToSql; 13] {
        [
            &self.at,
            &self.duration_ms,
            &self.succeeded,
            &self.output,
            &self.exception_type,
            &self.exception_message,
            &self.exception_stack_trace,
            &self.persisted,
            &self.status_events,
            &self.logs,
            &self.ledger,
            &of.0,
            &of.1,
        ]
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
