//! The contents of a frame, in the encoding of release 0.1.0. The order of the fields is the format.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::ids::{BootId, InvocationId, OperationId, ToolId};
use crate::record::{FinishedRun, Outcome, RunEnd, RunStart};
use crate::store::sql::run_start::InOperation;
use crate::tape::NewTape;
use crate::version::Version;

#[derive(Deserialize)]
pub(super) enum JournalEvent {
    Started(Vec<Start>),
    Finished(Vec<End>),
}

#[derive(Deserialize)]
pub(super) struct Start {
    id: InvocationId,
    organization: OrganizationId,
    tool: Option<ToolId>,
    version: Option<[i64; 3]>,
    _source_kind: String,
    source: String,
    _conversation_id: Option<String>,
    _interaction_id: Option<String>,
    _simulation_run_id: Option<String>,
    mode: String,
    input: String,
    started_at: i64,
    boot: BootId,
    operation: Option<(OperationId, i64)>,
}

#[derive(Deserialize)]
pub(super) struct End {
    id: InvocationId,
    organization: OrganizationId,
    at: Timestamp,
    duration_ms: i64,
    outcome: Outcome,
    persisted: bool,
    status_events: String,
    logs: String,
    ledger: Option<String>,
    _effects: Vec<(String, String)>,
    tape: Option<NewTape>,
    answers: Option<NewAnswers>,
}

impl JournalEvent {
    pub fn read(frame: &[u8]) -> Result<Self> {
        postcard::from_bytes(frame).map_err(|error| damaged(&error))
    }
}

impl Start {
    /// Returns the start of the run, the start of the server that ran it, and its operation.
    pub fn into_record(self) -> Result<(RunStart, BootId, InOperation)> {
        let record = RunStart {
            tool: self.tool,
            tool_version: self.version.map(|numbers| {
                let [major, minor, patch] = numbers.map(unsigned);
                Version::new(major, minor, patch)
            }),
            mode: serde_json::from_value(self.mode.into()).map_err(|error| damaged(&error))?,
            input: json(&self.input)?,
            started_at: Timestamp::from_milliseconds(self.started_at),
            ..RunStart::minimal(self.id, self.organization, json(&self.source)?)
        };
        Ok((record, self.boot, self.operation))
    }
}

impl End {
    pub fn into_record(self) -> Result<FinishedRun> {
        let end = RunEnd {
            at: self.at,
            duration_ms: unsigned(self.duration_ms),
            outcome: self.outcome,
            persisted: self.persisted,
            status_events: json(&self.status_events)?,
            logs: self.logs,
            content: Vec::new(),
            ledger: self.ledger.as_deref().map(json).transpose()?,
            refused_at: None,
        };
        let Self { id, organization, tape, answers, .. } = self;
        Ok(FinishedRun { id, organization, end, tape, answers })
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| damaged(&error))
}

fn damaged(error: &dyn std::fmt::Display) -> Error {
    Error::Corrupt { what: "journal", detail: error.to_string() }
}
