//! The starts and ends of runs as rows. Callers encode them as JSON, so that little work is left for the single writer.
//!
//! A statement for a whole group of rows gets them as one list. Bytes are hexadecimal in it.

use serde::Serialize;

use super::row::{signed, to_json};
use super::search_columns::{Texts, texts};
use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::clock::Timestamp;
use crate::error::Result;
use crate::ids::{BootId, InvocationId, OperationId, ToolId};
use crate::invocation::{Finished, InvocationFinished, InvocationOutcome, InvocationStarted};
use crate::ledger::Ledger;
use crate::store::retention::Retention;
use crate::tape::{NewTape, SealedBody};

/// JSON bytes of the status events stored with a record. Further events were only streamed.
const STATUS_EVENTS_BYTES_MAX: usize = 256 * 1024;

/// Rows for the record of runs that are inserted together or not at all.
pub(crate) enum RecordRows {
    Started(Vec<StartRow>),
    Finished(Vec<EndRow>),
}

/// The encoded rows of a run that starts.
pub(crate) struct StartRow {
    pub started: String,
    pub has_operation: bool,
}

/// The encoded rows of a run that has ended.
pub(crate) struct EndRow {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub finished: String,
    /// The texts for the full-text index.
    pub texts: Texts,
    /// Effects: kind and name.
    pub effects: Vec<(&'static str, String)>,
    pub tape: Option<String>,
    pub tape_bodies: Vec<String>,
    pub answers: Option<AnswerRows>,
}

/// The encoded rows of the recorded answers of a run.
pub(crate) struct AnswerRows {
    pub tool: ToolId,
    pub answers: Vec<String>,
}

/// The operation that a run belongs to, and the index of its input.
pub(crate) type InOperation = Option<(OperationId, i64)>;

#[derive(Serialize)]
struct Started<'a> {
    invocation: &'a str,
    organization: &'a str,
    tool: Option<&'a str>,
    major: Option<i64>,
    minor: Option<i64>,
    patch: Option<i64>,
    source_kind: &'static str,
    source: String,
    conversation_id: Option<&'a str>,
    interaction_id: Option<&'a str>,
    simulation_run_id: Option<&'a str>,
    mode: &'static str,
    input: String,
    started_at: i64,
    boot: &'a str,
    operation: Option<&'a str>,
    input_index: Option<i64>,
}

/// The end of a run. Texts written by tools are stored as bytes, because a database may refuse some of their characters.
#[derive(Serialize)]
struct Ended<'a> {
    invocation: &'a str,
    organization: &'a str,
    finished_at: i64,
    duration_ms: i64,
    succeeded: bool,
    output: Option<String>,
    exception_type: Option<String>,
    exception_message: Option<String>,
    exception_stack_trace: Option<String>,
    persisted: bool,
    status_events: String,
    logs: String,
    ledger: Option<String>,
}

#[derive(Serialize)]
struct Tape<'a> {
    invocation: &'a str,
    organization: &'a str,
    sealed: Option<String>,
    size: i64,
    made_at: i64,
    expires_at: i64,
}

#[derive(Serialize)]
struct Body<'a> {
    invocation: &'a str,
    organization: &'a str,
    digest: String,
    sealed: String,
    size: i64,
}

#[derive(Serialize)]
struct Answer<'a> {
    organization: &'a str,
    tool: &'a str,
    request: String,
    sealed: String,
    heard_at: i64,
    expires_at: i64,
}

impl RecordRows {
    /// Size of the rows, for the bound of a group.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Started(starts) => starts.iter().map(|start| start.started.len()).sum(),
            Self::Finished(ends) => ends.iter().map(EndRow::bytes).sum(),
        }
    }

    /// Removes the recorded answers, and returns whether there were any.
    pub fn take_answers(&mut self) -> bool {
        match self {
            Self::Started(_) => false,
            Self::Finished(ends) => ends.iter_mut().filter_map(|end| end.answers.take()).count() > 0,
        }
    }
}

impl StartRow {
    pub fn of(record: &InvocationStarted, boot: &BootId, operation: &InOperation) -> Result<Self> {
        let version = record.tool_version.map(|version| [version.major, version.minor, version.patch].map(signed));
        let [major, minor, patch] = version.map_or([None; 3], |numbers| numbers.map(Some));
        let started = to_json(&Started {
            invocation: record.id.as_str(),
            organization: record.organization.as_str(),
            tool: record.tool.as_ref().map(ToolId::as_str),
            major,
            minor,
            patch,
            source_kind: record.source.kind().as_str(),
            source: to_json(&record.source)?,
            conversation_id: record.source.conversation_id(),
            interaction_id: record.source.interaction_id(),
            simulation_run_id: record.source.simulation_run_id(),
            mode: record.mode.as_str(),
            input: to_json(&record.input)?,
            started_at: record.started_at.as_milliseconds(),
            boot: boot.as_str(),
            operation: operation.as_ref().map(|(operation, _)| operation.as_str()),
            input_index: operation.as_ref().map(|(_, index)| *index),
        });
        Ok(Self { started: started?, has_operation: operation.is_some() })
    }
}

impl EndRow {
    pub fn of(record: &InvocationFinished, retention: Retention) -> Result<Self> {
        let effects = record.finished.ledger.iter().flat_map(Ledger::effects);
        Ok(Self {
            id: record.id.clone(),
            organization: record.organization.clone(),
            finished: finished(record)?,
            texts: texts(&record.finished.outcome),
            effects: effects.map(|effect| (effect.kind.as_str(), effect.name)).collect(),
            tape: record.tape.as_ref().map(|tape| tape_row(record, tape, retention)).transpose()?,
            tape_bodies: body_rows(record)?,
            answers: record.answers.as_ref().map(|answers| answer_rows(record, answers, retention)).transpose()?,
        })
    }

    fn bytes(&self) -> usize {
        let texts = self.texts.iter().flatten().map(String::len).sum::<usize>();
        let answers = self.answers.iter().flat_map(|rows| &rows.answers);
        let beside = self.tape.iter().chain(&self.tape_bodies).chain(answers).map(String::len).sum::<usize>();
        self.finished.len() + texts + beside
    }
}

fn finished(record: &InvocationFinished) -> Result<String> {
    let Finished { at, duration_ms, outcome, persisted, status_events: events, logs, ledger } = &record.finished;
    let (output, kind, message, trace) = match outcome {
        InvocationOutcome::Succeeded { output } => (Some(output), None, None, None),
        InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            (None, Some(exception_type), Some(exception_message), Some(to_json(exception_stack_trace)?))
        }
    };
    to_json(&Ended {
        invocation: record.id.as_str(),
        organization: record.organization.as_str(),
        finished_at: at.as_milliseconds(),
        duration_ms: signed(*duration_ms),
        succeeded: output.is_some(),
        output: output.map(hex::encode),
        exception_type: kind.map(hex::encode),
        exception_message: message.map(hex::encode),
        exception_stack_trace: trace.map(hex::encode),
        persisted: *persisted,
        status_events: status_events(events)?,
        logs: hex::encode(logs),
        ledger: ledger.as_ref().map(to_json).transpose()?,
    })
}

fn tape_row(record: &InvocationFinished, tape: &NewTape, retention: Retention) -> Result<String> {
    let (sealed, size) = match tape {
        NewTape::Cut => (None, 0),
        NewTape::Whole(tape) => (Some(hex::encode(&tape.sealed)), signed(tape.size)),
    };
    let (made_at, expires_at) = times(record.finished.at, retention);
    let (invocation, organization) = (record.id.as_str(), record.organization.as_str());
    to_json(&Tape { invocation, organization, sealed, size, made_at, expires_at })
}

fn body_rows(record: &InvocationFinished) -> Result<Vec<String>> {
    let Some(NewTape::Whole(tape)) = &record.tape else { return Ok(Vec::new()) };
    let row = |SealedBody { digest, sealed, size }: &SealedBody| {
        to_json(&Body {
            invocation: record.id.as_str(),
            organization: record.organization.as_str(),
            digest: hex::encode(digest),
            sealed: hex::encode(sealed),
            size: signed(*size),
        })
    };
    tape.bodies.iter().map(row).collect()
}

fn answer_rows(record: &InvocationFinished, answers: &NewAnswers, retention: Retention) -> Result<AnswerRows> {
    let row = |answer: &crate::answer::SealedAnswer| {
        let (heard_at, expires_at) = times(answer.heard_at, retention);
        to_json(&Answer {
            organization: record.organization.as_str(),
            tool: answers.tool.as_str(),
            request: hex::encode(answer.request),
            sealed: hex::encode(&answer.sealed),
            heard_at,
            expires_at,
        })
    };
    Ok(AnswerRows { tool: answers.tool.clone(), answers: answers.sealed.iter().map(row).collect::<Result<_>>()? })
}

/// Returns the milliseconds of a time, and of the time at which what is kept since then expires.
fn times(at: Timestamp, retention: Retention) -> (i64, i64) {
    (at.as_milliseconds(), at.after(retention.time).as_milliseconds())
}

/// Encodes the status events as one JSON array, up to the bound.
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
