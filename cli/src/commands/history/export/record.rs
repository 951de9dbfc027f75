//! A record as a row of a table.

use api::wire::{AgentCall, RunOutcome, ToolInvocation};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// A record, with its times in milliseconds since 1970 and its source as JSON.
pub struct Record {
    pub run: ToolInvocation,
    pub source: Value,
    pub started_at: i64,
    pub finished_at: Option<i64>,
}

impl Record {
    pub fn read(json: &str) -> anyhow::Result<Self> {
        let run: ToolInvocation = serde_json::from_str(json).map_err(explain_unexpected)?;
        let ended = run.invocation_status.is_some();
        Ok(Self {
            started_at: parse_milliseconds(&run.created_at)?,
            finished_at: ended.then(|| parse_milliseconds(&run.updated_at)).transpose()?,
            source: serde_json::to_value(&run.invocation_source)?,
            run,
        })
    }

    /// A text of the source.
    pub fn source_text(&self, name: &str) -> Option<String> {
        self.source[name].as_str().map(str::to_owned)
    }

    /// A part of the call through an agent.
    pub fn agent_call<T>(&self, part: fn(&AgentCall) -> Option<T>) -> Option<T> {
        self.run.agent_call.as_ref().and_then(part)
    }

    pub fn is_succeeded(&self) -> Option<bool> {
        self.run.invocation_status.as_ref().map(RunOutcome::is_success)
    }

    pub fn output(&self) -> Option<String> {
        match &self.run.invocation_status {
            Some(RunOutcome::Succeeded { output, .. }) => Some(output.clone()),
            _ => None,
        }
    }

    /// A part of the exception: its type, its message or its stack trace.
    pub fn exception(&self, part: fn(&str, &str, &[String]) -> String) -> Option<String> {
        match &self.run.invocation_status {
            Some(RunOutcome::Failed { exception_type, exception_message, exception_stack_trace, .. }) => {
                Some(part(exception_type, exception_message, exception_stack_trace))
            }
            _ => None,
        }
    }
}

/// The JSON text of a value.
pub fn render_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn parse_milliseconds(time: &str) -> anyhow::Result<i64> {
    Ok(time.parse::<Timestamp>().map_err(explain_unexpected)?.as_millisecond())
}

fn explain_unexpected(reason: impl std::fmt::Display) -> Failure {
    Failure::UnexpectedResponse { url: "the server".to_owned(), reason: reason.to_string() }
}
