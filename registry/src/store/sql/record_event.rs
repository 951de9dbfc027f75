//! The starts and ends of runs as rows, ready for the statements that insert them. Callers make the rows, so that little
//! work is left for the single writer thread.

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

/// JSON bytes of the status events stored with a record. Further events were only streamed.
const STATUS_EVENTS_BYTES_MAX: usize = 256 * 1024;

/// Encoded size of a typical event.
const BYTES_TYPICAL: usize = 2 << 10;

/// Rows for the record of runs that are inserted together or not at all.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum RecordEvent {
    Started(Vec<StartRow>),
    Finished(Vec<EndRow>),
}

/// The row of a run that starts.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartRow {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub tool: Option<ToolId>,
    /// Version: major, minor, patch.
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
    /// The operation that the run belongs to, and the index of its input.
    pub operation: Option<(OperationId, i64)>,
}

/// The row of a run that has ended, with the data stored beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EndRow {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub at: Timestamp,
    pub duration_ms: i64,
    pub outcome: InvocationOutcome,
    pub persisted: bool,
    pub status_events: String,
    pub logs: String,
    pub ledger: Option<String>,
    /// Effects: kind and name.
    pub effects: Vec<(String, String)>,
    pub tape: Option<NewTape>,
    pub answers: Option<NewAnswers>,
}

impl RecordEvent {
    /// Encodes the event for the journal. Returns `None` above `bytes_max`.
    pub fn encode(&self, bytes_max: usize) -> Result<Option<Vec<u8>>> {
        if self.bytes_min() > bytes_max {
            return Ok(None);
        }
        let bytes = postcard::to_extend(self, Vec::with_capacity(BYTES_TYPICAL)).map_err(unencodable)?;
        Ok(Some(bytes).filter(|bytes| bytes.len() <= bytes_max))
    }

    /// Lower bound of the encoded size, computed without encoding.
    fn bytes_min(&self) -> usize {
        match self {
            Self::Started(starts) => starts.iter().map(|start| start.input.len()).sum(),
            Self::Finished(ends) => ends.iter().map(EndRow::bytes_min).sum(),
        }
    }

    /// Ids of the runs, for the log.
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

fn unencodable(error: postcard::Error) -> Error {
    Error::Database { source: Box::new(error) }
}

impl StartRow {
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

impl EndRow {
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

    /// Lower bound of the encoded size.
    fn bytes_min(&self) -> usize {
        let output = match &self.outcome {
            InvocationOutcome::Succeeded { output } => output.len(),
            InvocationOutcome::Failed { exception_message, .. } => exception_message.len(),
        };
        let tape = self.tape.as_ref().map_or(0, NewTape::sealed_bytes);
        let answers = self.answers.iter().flat_map(|answers| &answers.sealed).map(|answer| answer.sealed.len());
        output + self.status_events.len() + self.logs.len() + tape + answers.sum::<usize>()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::SealedAnswer;
    use crate::digest::Digest;
    use crate::tape::{SealedBody, SealedTape};

    fn organization() -> OrganizationId {
        OrganizationId::parse("acme").unwrap()
    }

    fn started() -> RecordEvent {
        RecordEvent::Started(vec![StartRow {
            id: InvocationId::parse("0123456789abcdef01234567").unwrap(),
            organization: organization(),
            tool: Some(ToolId::parse("1123456789abcdef01234567").unwrap()),
            version: Some([1, 2, 3]),
            source_kind: "direct".into(),
            source: "{}".into(),
            conversation_id: Some("c".into()),
            interaction_id: None,
            simulation_run_id: None,
            mode: "regular".into(),
            input: "{}".into(),
            started_at: 1_790_000_000_000,
            boot: BootId::parse("2123456789abcdef01234567").unwrap(),
            operation: Some((OperationId::parse("3123456789abcdef01234567").unwrap(), 4)),
        }])
    }

    fn finished(outcome: InvocationOutcome) -> RecordEvent {
        let body = SealedBody { digest: [5; 32], sealed: vec![6; 7], size: 8 };
        let tool = ToolId::parse("1123456789abcdef01234567").unwrap();
        let at = Timestamp::from_milliseconds(1_790_000_000_001);
        let answer = SealedAnswer { request: [9; 32], sealed: vec![10; 11], heard_at: at };
        RecordEvent::Finished(vec![EndRow {
            id: InvocationId::parse("0123456789abcdef01234567").unwrap(),
            organization: organization(),
            at,
            duration_ms: 12,
            outcome,
            persisted: true,
            status_events: "[]".into(),
            logs: "said".into(),
            ledger: Some("{}".into()),
            effects: vec![("host".into(), "example.org".into())],
            tape: Some(NewTape::Whole(SealedTape { sealed: vec![13; 14], size: 15, bodies: vec![body] })),
            answers: Some(NewAnswers { tool, sealed: vec![answer] }),
        }])
    }

    /// A release may start on the journal that another release left at a crash. A change of the encoding therefore
    /// changes `frames::FORMAT_VERSION`, and these digests.
    #[test]
    fn the_encoding_is_that_of_the_format_version() {
        let succeeded = finished(InvocationOutcome::Succeeded { output: "done".into() });
        let failed = finished(InvocationOutcome::Failed {
            exception_type: "ValueError".into(),
            exception_message: "no".into(),
            exception_stack_trace: vec!["main.py".into()],
        });
        let digests = [started(), succeeded, failed].map(|event| {
            let bytes = event.encode(usize::MAX).unwrap().unwrap();
            let again = RecordEvent::read(&bytes).unwrap();
            assert_eq!(format!("{again:?}"), format!("{event:?}"));
            Digest::of(&bytes).to_hex()[..16].to_owned()
        });
        assert_eq!(digests, ["637d10436951baa0", "994568f7ad1dc820", "69457e76b4d9f2dd"]);
    }

    #[test]
    fn events_above_the_bound_are_not_encoded() {
        let event = finished(InvocationOutcome::Succeeded { output: "x".repeat(1_000) });
        let bytes = event.encode(usize::MAX).unwrap().unwrap();
        assert!(event.bytes_min() <= bytes.len());
        assert_eq!(event.encode(bytes.len()).unwrap(), Some(bytes.clone()));
        assert_eq!(event.encode(bytes.len() - 1).unwrap(), None);
        assert_eq!(event.encode(1_000).unwrap(), None);
    }
}
