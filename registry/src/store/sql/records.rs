//! Reading the two halves of a record as one.

use super::dialect::Row;
use super::row::{exact_text, get, json, parsed, parsed_option, timestamp, unsigned, version};
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::invocation::{Finished, Invocation, InvocationMode, InvocationOutcome};
use crate::invocation_source::InvocationSource;

/// Both halves of records, and whether they were unlinked from their conversation.
macro_rules! select_invocations {
    ($($rest:expr),*) => {
        concat!(
            "SELECT s.*, f.sequence, f.finished_at, f.duration_ms, f.succeeded, f.output, f.exception_type,
                f.exception_message, f.exception_stack_trace, f.persisted, f.status_events, f.logs,
                u.invocation IS NOT NULL AS unlinked
            FROM inv_started s
            LEFT JOIN inv_finished f ON f.invocation = s.invocation
            LEFT JOIN inv_unlinked u ON u.invocation = s.invocation ",
            $($rest),*
        )
    };
}
pub(super) use select_invocations;

pub(super) fn read(row: &Row) -> Result<Invocation> {
    let tool = parsed_option(row, "tool")?;
    let tool_version = if get::<Option<i64>>(row, "major")?.is_some() { Some(version(row)?) } else { None };
    let source: InvocationSource = json(row, "source")?;
    let unlinked: bool = get(row, "unlinked")?;
    Ok(Invocation {
        id: parsed(row, "invocation")?,
        organization: parsed(row, "organization")?,
        tool,
        tool_version,
        source: if unlinked { source.unlinked() } else { source },
        mode: mode(row)?,
        input: json(row, "input")?,
        started_at: timestamp(row, "started_at")?,
        finished: finished(row)?,
    })
}

fn mode(row: &Row) -> Result<InvocationMode> {
    match get::<&str>(row, "mode")? {
        "regular" => Ok(InvocationMode::Regular),
        "conversation-simulation" => Ok(InvocationMode::ConversationSimulation),
        other => Err(Error::Corrupt { what: "invocation", detail: format!("mode {other}") }),
    }
}

fn finished(row: &Row) -> Result<Option<Finished>> {
    let Some(at) = get::<Option<i64>>(row, "finished_at")? else {
        return Ok(None);
    };
    Ok(Some(Finished {
        at: Timestamp::from_milliseconds(at),
        duration_ms: unsigned(row, "duration_ms")?,
        outcome: outcome(row)?,
        persisted: get(row, "persisted")?,
        status_events: json(row, "status_events")?,
        logs: exact_text(row, "logs")?,
    }))
}

fn outcome(row: &Row) -> Result<InvocationOutcome> {
    if get(row, "succeeded")? {
        return Ok(InvocationOutcome::Succeeded { output: exact_text(row, "output")? });
    }
    let stack_trace = serde_json::from_str(&exact_text(row, "exception_stack_trace")?);
    let damaged = |error: serde_json::Error| Error::Corrupt { what: "invocation", detail: error.to_string() };
    Ok(InvocationOutcome::Failed {
        exception_type: exact_text(row, "exception_type")?,
        exception_message: exact_text(row, "exception_message")?,
        exception_stack_trace: stack_trace.map_err(damaged)?,
    })
}
