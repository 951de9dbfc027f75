//! The end of a run in the database: the row, the statement that inserts it, and how it is read.

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::history::{ContentBlock, FinishedRun, InvokeStep, Ledger, Outcome, RunEnd};
use crate::kit::clock::Timestamp;
use crate::store::database::Row;
use crate::store::sql::kit::row::{
    get, parse_optional_column, read_exact_text, read_json, read_unsigned, to_json, to_signed,
};
use crate::text::raw_json::RawJson;

/// JSON bytes of the status events stored with a record. Further events were only streamed.
const STATUS_EVENTS_BYTES_MAX: usize = 256 * 1024;

/// Inserts the ends of runs that have started and not ended.
pub(super) const INSERT_ENDS: &str = "INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms,
        succeeded, output, exception_type, exception_message, exception_stack_trace, persisted, status_events, logs,
        content, ledger, refused_at)
    SELECT invocation, organization, finished_at, duration_ms, succeeded, output, exception_type, exception_message,
        exception_stack_trace, persisted, status_events, logs, content, ledger, refused_at
    FROM {records $1 invocation TEXT, organization TEXT, finished_at INTEGER, duration_ms INTEGER, succeeded INTEGER, \
        output BYTES, exception_type BYTES, exception_message BYTES, exception_stack_trace BYTES, persisted INTEGER, \
        status_events TEXT, logs BYTES, content TEXT, ledger TEXT, refused_at TEXT} ends";

/// The end of a run. Texts written by tools are stored as bytes, because a database may refuse some of their characters.
#[derive(Serialize)]
struct Columns<'a> {
    invocation: &'a str,
    organization: &'a str,
    finished_at: i64,
    duration_ms: i64,
    succeeded: i64,
    output: Option<String>,
    exception_type: Option<String>,
    exception_message: Option<String>,
    exception_stack_trace: Option<String>,
    persisted: i64,
    status_events: String,
    logs: String,
    content: Option<String>,
    ledger: Option<String>,
    refused_at: Option<&'static str>,
}

/// Returns the row of a run that has ended, encoded.
pub(super) fn end_row(run: &FinishedRun) -> Result<String> {
    let RunEnd { at, duration_ms, outcome, persisted, status_events: events, logs, content, ledger, refused_at } =
        &run.end;
    let (output, kind, message, trace) = match outcome {
        Outcome::Succeeded { output } => (Some(output), None, None, None),
        Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
            (None, Some(exception_type), Some(exception_message), Some(to_json(exception_stack_trace)?))
        }
    };
    to_json(&Columns {
        invocation: run.id.as_str(),
        organization: run.organization.as_str(),
        finished_at: at.as_milliseconds(),
        duration_ms: to_signed(*duration_ms),
        succeeded: output.is_some().into(),
        output: output.map(hex::encode),
        exception_type: kind.map(hex::encode),
        exception_message: message.map(hex::encode),
        exception_stack_trace: trace.map(hex::encode),
        persisted: (*persisted).into(),
        status_events: encode_status_events(events)?,
        logs: hex::encode(logs),
        content: (!content.is_empty()).then(|| to_json(content)).transpose()?,
        ledger: ledger.as_ref().map(to_json).transpose()?,
        refused_at: refused_at.map(InvokeStep::as_str),
    })
}

/// Encodes the status events as one JSON array, up to the bound.
fn encode_status_events(events: &[Value]) -> Result<String> {
    let mut kept: Vec<&Value> = Vec::new();
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

/// Reads the end of a run; `None` while the run is in progress.
pub(super) fn read_end(row: &Row) -> Result<Option<RunEnd<RawJson>>> {
    let Some(at) = get::<Option<i64>>(row, "finished_at")? else {
        return Ok(None);
    };
    Ok(Some(RunEnd {
        at: Timestamp::from_milliseconds(at),
        duration_ms: read_unsigned(row, "duration_ms")?,
        outcome: read_outcome(row)?,
        persisted: get(row, "persisted")?,
        status_events: read_json(row, "status_events")?,
        logs: read_exact_text(row, "logs")?,
        content: read_content(row)?,
        ledger: read_ledger(row)?,
        refused_at: parse_optional_column(row, "refused_at")?,
    }))
}

fn read_content(row: &Row) -> Result<Vec<ContentBlock>> {
    match get::<Option<&str>>(row, "content")? {
        Some(_) => read_json(row, "content"),
        None => Ok(Vec::new()),
    }
}

fn read_ledger(row: &Row) -> Result<Option<Ledger>> {
    match get::<Option<&str>>(row, "ledger")? {
        Some(_) => read_json(row, "ledger").map(Some),
        None => Ok(None),
    }
}

fn read_outcome(row: &Row) -> Result<Outcome> {
    if get(row, "succeeded")? {
        return Ok(Outcome::Succeeded { output: read_exact_text(row, "output")? });
    }
    let stack_trace = serde_json::from_str(&read_exact_text(row, "exception_stack_trace")?);
    let damaged = |error: serde_json::Error| Error::Corrupt { what: "invocation", detail: error.to_string() };
    Ok(Outcome::Failed {
        exception_type: read_exact_text(row, "exception_type")?,
        exception_message: read_exact_text(row, "exception_message")?,
        exception_stack_trace: stack_trace.map_err(damaged)?,
    })
}
