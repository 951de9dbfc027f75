//! What a write adds to the record of runs, as its statements take it: made by whoever has the record, so that the one
//! thread that writes has little left to do.

use serde::{Deserialize, Serialize};

use super::row::{signed, to_json};
use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::ids::{BootId, InvocationId, OperationId, ToolId};
use crate::invocation::{InvocationFinished, InvocationOutcome, InvocationStarted};
use crate::ledger::Ledger;
use crate::tape::NewTape;

/// JSON bytes of the status events kept with a record; the events beyond it were streamed and are gone.
const STATUS_EVENTS_BYTES_MAX: usize = 256 * 1024;

/// What the halves of a small run need.
const BYTES_USUAL: usize = 2 << 10;

/// Halves of records that are kept together or not at all.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) enum Halves {
    Started(Vec<Start>),
    Finished(Vec<Finish>),
}

/// The first half of a record.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct Start {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub tool: Option<ToolId>,
    /// Major, minor, patch.
    pub version: Option<[i64; 3]>,
    pub source_kind: String,
    pub source: String,
    pub conversation_id: Option<String>,
    pub interaction_id: Option<String>,
    pub simulation_run_id: Option<String>,
    pub mode: String,
    pub input: String,
    pub started_at: i64,
    pub boot: BootId,
    /// The operation that it is a run of, and the input of it.
    pub operation: Option<(OperationId, i64)>,
}

/// The second half, with what stands beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct Finish {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub at: Timestamp,
    pub duration_ms: i64,
    pub outcome: InvocationOutcome,
    pub persisted: bool,
    pub status_events: String,
    pub logs: String,
    pub ledger: Option<String>,
    /// Kind and name.
    pub effects: Vec<(String, String)>,
    pub tape: Option<NewTape>,
    pub answers: Option<NewAnswers>,
}

impl Halves {
    /// As bytes, for the journal.
    pub fn written(&self) -> Result<Vec<u8>> {
        postcard::to_extend(self, Vec::with_capacity(BYTES_USUAL)).map_err(unwritable)
    }

    /// The ids of their runs, for the log.
    pub fn runs(&self) -> String {
        let ids: Vec<_> = match self {
            Self::Started(starts) => starts.iter().map(|start| start.id.as_str()).collect(),
            Self::Finished(ends) => ends.iter().map(|end| end.id.as_str()).collect(),
        };
        ids.join(", ")
    }

    pub fn read(bytes: &[u8]) -> Result<Self> {
        postcard::from_bytes(bytes).map_err(|error| Error::Corrupt { what: "journal", detail: error.to_string() })
    }
}

fn unwritable(error: postcard::Error) -> Error {
    Error::Database { source: Box::new(error) }
}

impl Start {
    pub fn of(record: &InvocationStarted, boot: &BootId, operation: Option<(OperationId, i64)>) -> Result<Self> {
        let version = record.tool_version.map(|version| [version.major, version.minor, version.patch].map(signed));
        Ok(Self {
            id: record.id.clone(),
            organization: record.organization.clone(),
            tool: record.tool.clone(),
            version,
            source_kind: record.source.kind().as_str().to_owned(),
            source: to_json(&record.source)?,
            conversation_id: record.source.conversation_id().map(str::to_owned),
            interaction_id: record.source.interaction_id().map(str::to_owned),
            simulation_run_id: record.source.simulation_run_id().map(str::to_owned),
            mode: record.mode.as_str().to_owned(),
            input: to_json(&record.input)?,
            started_at: record.started_at.as_milliseconds(),
            boot: boot.clone(),
            operation,
        })
    }
}

impl Finish {
    pub fn of(record: &InvocationFinished) -> Result<Self> {
        let finished = &record.finished;
        let effects = finished.ledger.iter().flat_map(Ledger::effects);
        Ok(Self {
            id: record.id.clone(),
            organization: record.organization.clone(),
            at: finished.at,
            duration_ms: signed(finished.duration_ms),
            outcome: finished.outcome.clone(),
            persisted: finished.persisted,
            status_events: status_events(&finished.status_events)?,
            logs: finished.logs.clone(),
            ledger: finished.ledger.as_ref().map(to_json).transpose()?,
            effects: effects.map(|effect| (effect.kind.as_str().to_owned(), effect.name)).collect(),
            tape: record.tape.clone(),
            answers: record.answers.clone(),
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
