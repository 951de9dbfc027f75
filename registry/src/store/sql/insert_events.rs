//! Inserting the starts and ends of runs, with everything that the same transaction stores beside them.

use std::collections::HashSet;

use rusqlite::types::ToSql;

use super::record_event::{EndRow, RecordEvent, StartRow};
use super::recorder::Recorder;
use super::row::to_json;
use super::search_index::index;
use super::tapes::{self, TapedRun};
use super::{answers, operations};
use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::InvocationId;
use crate::invocation::InvocationOutcome;

const INSERT_START: &str =
    "INSERT INTO inv_started (invocation, organization, tool, major, minor, patch, source_kind, source,
        conversation_id, interaction_id, simulation_run_id, mode, input, started_at, boot)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    ON CONFLICT (invocation) DO NOTHING";

const OPEN: &str = "INSERT INTO inv_open (invocation, organization, boot) VALUES ($1, $2, $3)";

/// Deletes nothing if the run has already ended or never started.
const CLOSE: &str = "DELETE FROM inv_open WHERE organization = $1 AND invocation = $2";

/// Inserts the end of a run. The statement has no `SELECT` and no `RETURNING`: with them SQLite makes the statement
/// revertible on its own, for which the full-text index writes its pages at every run and not once for a whole group.
const INSERT_END: &str =
    "INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output,
        exception_type, exception_message, exception_stack_trace, persisted, status_events, logs, ledger)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT (invocation) DO NOTHING";

const INSERT_EFFECT: &str = "INSERT INTO inv_effects (organization, kind, name, sequence) VALUES ($1, $2, $3, $4)";

const IS_STARTED: &str = "SELECT 1 FROM inv_started WHERE organization = $1 AND invocation = $2";

impl RecordEvent {
    /// Inserts the rows. Rows that exist do not change. Returns the first end of a run that was refused.
    pub(crate) fn insert(&self, recorder: &Recorder) -> Result<Option<Error>> {
        Self::insert_all(std::slice::from_ref(self), recorder)
    }

    /// Like [`RecordEvent::insert`], for many events in their order. A run whose start and end are both among them is never
    /// listed as open.
    pub(crate) fn insert_all(events: &[Self], recorder: &Recorder) -> Result<Option<Error>> {
        let ended: HashSet<_> = events.iter().flat_map(Self::ended).collect();
        let (mut begun, mut refused) = (HashSet::new(), None);
        for event in events {
            match event {
                Self::Started(starts) => {
                    for start in starts {
                        if !insert_start(recorder, start)? {
                            continue; // the row is from before a crash
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
                        refused = refused.or(insert_end(recorder, end)?);
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

/// Inserts a start, and returns whether it is new.
fn insert_start(recorder: &Recorder, row: &StartRow) -> Result<bool> {
    let [major, minor, patch] = row.version.map_or([None; 3], |numbers| numbers.map(Some));
    let added = recorder.execute(
        INSERT_START,
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
    if added > 0 {
        operations::link_run(recorder, row)?;
    }
    Ok(added > 0)
}

fn open(recorder: &Recorder, row: &StartRow) -> Result<()> {
    recorder.execute(OPEN, &[&row.id.as_str(), &row.organization.as_str(), &row.boot.as_str()]).map(drop)
}

fn close(recorder: &Recorder, row: &EndRow) -> Result<()> {
    recorder.execute(CLOSE, &[&row.organization.as_str(), &row.id.as_str()]).map(drop)
}

fn is_started(recorder: &Recorder, row: &EndRow) -> Result<bool> {
    Ok(recorder.number(IS_STARTED, &[&row.organization.as_str(), &row.id.as_str()])?.is_some())
}

/// Inserts the end of a run that was started. Returns the error when the run ended before.
fn insert_end(recorder: &Recorder, row: &EndRow) -> Result<Option<Error>> {
    let of = (row.organization.as_str(), row.id.as_str());
    if recorder.execute(INSERT_END, &Columns::of(row)?.values(&of))? == 0 {
        return Ok(Some(Error::AlreadyFinished { invocation: row.id.clone() }));
    }
    let sequence = recorder.last_inserted();
    index(recorder, sequence, row)?;
    for (kind, name) in &row.effects {
        recorder.execute(INSERT_EFFECT, &[&of.0, kind, name, &sequence])?;
    }
    insert_beside(recorder, row)?;
    Ok(None)
}

/// Stores the tape and the recorded answers of a run.
fn insert_beside(recorder: &Recorder, row: &EndRow) -> Result<()> {
    let (organization, run) = (&row.organization, &row.id);
    if let Some(tape) = &row.tape {
        tapes::insert(recorder, TapedRun { organization, run, made_at: row.at }, tape)?;
    }
    match &row.answers {
        Some(answers) => insert_answers(recorder, organization, answers),
        None => Ok(()),
    }
}

/// Stores recorded answers. A failure does not prevent the record of the run, unless the record would fail as well.
fn insert_answers(recorder: &Recorder, organization: &OrganizationId, found: &NewAnswers) -> Result<()> {
    match answers::insert(recorder, organization, found) {
        Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
        Err(error) => {
            tracing::error!(%error, "recorded answers could not be stored");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// The end of a run as columns. Texts written by tools are stored as bytes, because a database may refuse some of their
/// characters.
struct Columns<'a> {
    row: &'a EndRow,
    at: i64,
    succeeded: bool,
    output: Option<&'a [u8]>,
    exception_type: Option<&'a [u8]>,
    exception_message: Option<&'a [u8]>,
    exception_stack_trace: Option<Vec<u8>>,
    logs: &'a [u8],
}

impl<'a> Columns<'a> {
    fn of(row: &'a EndRow) -> Result<Self> {
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

    /// Returns the values of [`INSERT_END`], given the organisation and the id of the run.
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
