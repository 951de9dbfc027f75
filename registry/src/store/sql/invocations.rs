//! Recording runs. Both halves of a record are inserted once and never touched again.

use std::collections::HashSet;
use std::sync::Arc;

use metrics::counter;
use rusqlite::types::ToSql;

use super::answers;
use super::dialect::Row;
use super::halves::{Finish, Halves, Start};
use super::operations;
use super::recorder::Recorder;
use super::row::{get, parsed, to_json};
use super::search::index;
use super::tapes::{self, Place};
use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::{InvocationId, OperationId};
use crate::invocation::{Finished, InvocationFinished, InvocationOutcome, InvocationStarted, ORPHANED};
use crate::metrics::RECORDS;
use crate::store::Store;

const START: &str = "INSERT INTO inv_started (invocation, organization, tool, major, minor, patch, source_kind, source,
        conversation_id, interaction_id, simulation_run_id, mode, input, started_at, boot)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    ON CONFLICT (invocation) DO NOTHING";

const OPEN: &str = "INSERT INTO inv_open (invocation, organization, boot) VALUES ($1, $2, $3)";

/// Nothing is open of what was finished before, or never started.
const CLOSE: &str = "DELETE FROM inv_open WHERE organization = $1 AND invocation = $2";

/// With a `SELECT` or `RETURNING` the database could take back this statement alone. For that it would have the index of
/// words write out, at every run, what it otherwise writes once for a whole group.
const FINISH: &str = "INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output,
        exception_type, exception_message, exception_stack_trace, persisted, status_events, logs, ledger)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT (invocation) DO NOTHING";

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
        let count = started.len() as u64;
        let of = |index| operation.clone().map(|operation| (operation, index));
        let started = (0..).zip(&started).map(|(index, record)| Start::of(record, &self.0.boot, of(index)));
        self.keep(Halves::Started(started.collect::<Result<_>>()?)).await?;
        counter!(RECORDS, "half" => "start").increment(count);
        Ok(())
    }

    /// Keeps how runs ended. [`Error::AlreadyFinished`] or [`Error::NotFound`] names the first record that was
    /// refused; the others are durable all the same. With a journal that shows only later, and changes nothing.
    pub async fn finish_invocations(&self, finished: impl Into<Arc<[InvocationFinished]>>) -> Result<()> {
        let finished = finished.into();
        let rows = finished.iter().map(Finish::of);
        let refused = self.keep(Halves::Finished(rows.collect::<Result<_>>()?)).await?;
        counter!(RECORDS, "half" => "end").increment(finished.len() as u64);
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
        let closed = orphans.len() as u64;
        let ends = orphans.into_iter().map(|orphan| Finish::of(&orphan.ended(now)));
        let ends = Halves::Finished(ends.collect::<Result<_>>()?);
        self.record(move |recorder| ends.enter(recorder)).await?;
        Ok(closed)
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

impl Halves {
    /// Inserts them. What is there already stays as it is; of second halves that are not wanted the first is answered.
    pub(in crate::store) fn enter(&self, recorder: &Recorder<'_>) -> Result<Option<Error>> {
        Self::enter_all(std::slice::from_ref(self), recorder)
    }

    /// As [`Halves::enter`], for many in their order: a run whose halves are both among them is never open.
    pub(in crate::store) fn enter_all(group: &[Self], recorder: &Recorder<'_>) -> Result<Option<Error>> {
        let ended: HashSet<_> = group.iter().flat_map(Self::ended).collect();
        let (mut begun, mut refused) = (HashSet::new(), None);
        for halves in group {
            match halves {
                Self::Started(starts) => {
                    for start in starts {
                        if !begin(recorder, start)? {
                            continue; // from before a crash
                        }
                        if ended.contains(&(&start.organization, &start.id)) {
                            begun.insert((&start.organization, &start.id));
                        } else {
                            open(recorder, start)?;
                        }
                    }
                }
                Self::Finished(ends) => {
                    for end in ends {
                        if !begun.contains(&(&end.organization, &end.id)) {
                            if !is_started(recorder, end)? {
                                refused = refused.or(Some(Error::NotFound { what: "invocation" }));
                                continue;
                            }
                            close(recorder, end)?;
                        }
                        refused = refused.or(finish(recorder, end)?);
                    }
                }
            }
        }
        Ok(refused)
    }

    fn ended(&self) -> impl Iterator<Item = (&OrganizationId, &InvocationId)> {
        let ends = match self {
            Self::Started(_) => &[][..],
            Self::Finished(ends) => ends,
        };
        ends.iter().map(|end| (&end.organization, &end.id))
    }
}

/// Inserts the first half, and says whether it was not there.
fn begin(recorder: &Recorder<'_>, row: &Start) -> Result<bool> {
    let [major, minor, patch] = row.version.map_or([None; 3], |numbers| numbers.map(Some));
    let added = recorder.execute(
        START,
        &[
            &row.id.as_str(),
            &row.organization.as_str(),
            &row.tool.as_ref().map(|tool| tool.as_str()),
            &major,
            &minor,
            &patch,
            &row.source_kind,
            &row.source,
            &row.conversation_id,
            &row.interaction_id,
            &row.simulation_run_id,
            &row.mode,
            &row.input,
            &row.started_at,
            &row.boot.as_str(),
        ],
    )?;
    if added > 0
        && let Some((operation, index)) = &row.operation
    {
        operations::link_run(recorder, &row.organization, operation, (*index, &row.id))?;
    }
    Ok(added > 0)
}

fn open(recorder: &Recorder<'_>, row: &Start) -> Result<()> {
    recorder.execute(OPEN, &[&row.id.as_str(), &row.organization.as_str(), &row.boot.as_str()]).map(drop)
}

fn close(recorder: &Recorder<'_>, row: &Finish) -> Result<()> {
    recorder.execute(CLOSE, &[&row.organization.as_str(), &row.id.as_str()]).map(drop)
}

fn is_started(recorder: &Recorder<'_>, row: &Finish) -> Result<bool> {
    Ok(recorder.number(IS_STARTED, &[&row.organization.as_str(), &row.id.as_str()])?.is_some())
}

/// Inserts the second half of a run that was started, or says why not.
fn finish(recorder: &Recorder<'_>, row: &Finish) -> Result<Option<Error>> {
    let of = (row.organization.as_str(), row.id.as_str());
    if recorder.execute(FINISH, &Columns::of(row)?.values(&of))? == 0 {
        return Ok(Some(Error::AlreadyFinished { invocation: row.id.clone() }));
    }
    let sequence = recorder.last_inserted();
    index(recorder, sequence, &row.organization, &row.outcome)?;
    for (kind, name) in &row.effects {
        recorder.execute(EFFECT, &[&of.0, kind, name, &sequence])?;
    }
    keep_beside(recorder, row)?;
    Ok(None)
}

/// Keeps what stands beside a record in the same transaction.
fn keep_beside(recorder: &Recorder<'_>, row: &Finish) -> Result<()> {
    let (organization, run) = (&row.organization, &row.id);
    if let Some(tape) = &row.tape {
        tapes::insert(recorder, Place { organization, run, made_at: row.at }, tape)?;
    }
    match &row.answers {
        Some(found) => keep_answers(recorder, organization, found),
        None => Ok(()),
    }
}

/// The record of a run counts more than what simulations may have of it.
fn keep_answers(recorder: &Recorder<'_>, organization: &OrganizationId, found: &NewAnswers) -> Result<()> {
    match answers::keep(recorder, organization, found) {
        // Then the record cannot be kept, either.
        Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
        Err(error) => {
            tracing::error!(%error, "recorded answers cannot be kept");
            Ok(())
        }
        Ok(()) => Ok(()),
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

/// The second half as columns. Texts that a tool made are bytes, because a database may refuse some of the characters that
/// tools write.
struct Columns<'a> {
    row: &'a Finish,
    at: i64,
    succeeded: bool,
    output: Option<&'a [u8]>,
    exception_type: Option<&'a [u8]>,
    exception_message: Option<&'a [u8]>,
    exception_stack_trace: Option<Vec<u8>>,
    logs: &'a [u8],
}

impl<'a> Columns<'a> {
    fn of(row: &'a Finish) -> Result<Self> {
        let (succeeded, output, kind, message, trace) = match &row.outcome {
            InvocationOutcome::Succeeded { output } => (true, Some(output), None, None, None),
            InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                (false, None, Some(exception_type), Some(exception_message), Some(exception_stack_trace))
            }
        };
        Ok(Self {
            at: row.at.as_milliseconds(),
            row,
            succeeded,
            output: output.map(String::as_bytes),
            exception_type: kind.map(String::as_bytes),
            exception_message: message.map(String::as_bytes),
            exception_stack_trace: trace.map(to_json).transpose()?.map(String::into_bytes),
            logs: row.logs.as_bytes(),
        })
    }

    /// As [`FINISH`] wants them, of an organisation's run.
    fn values<'v>(&'v self, of: &'v (&'v str, &'v str)) -> [&'v dyn ToSql; 13] {
        [
            &of.1,
            &of.0,
            &self.at,
            &self.row.duration_ms,
            &self.succeeded,
            &self.output,
            &self.exception_type,
            &self.exception_message,
            &self.exception_stack_trace,
            &self.row.persisted,
            &self.row.status_events,
            &self.logs,
            &self.row.ledger,
        ]
    }
}
