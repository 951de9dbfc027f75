//! The record of a run: its start and its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::clock::Timestamp;
use crate::ids::{InvocationId, ToolId};
use crate::invocation_mode::InvocationMode;
use crate::invocation_source::InvocationSource;
use crate::ledger::Ledger;
use crate::raw_json::RawJson;
use crate::tape::NewTape;
use crate::version::Version;

/// Replaces the values of sensitive variables in records.
pub const REDACTED: &str = "[redacted]";

/// The `exception_type` of runs during which the server stopped.
pub const ORPHANED: &str = "orphaned";

/// The input of a run, as it is recorded: sensitive values are redacted. The parameters are an object, which is read back
/// as unparsed JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedInput<P = Map<String, Value>> {
    pub input_parameters: P,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    sensitive_user_variables: BTreeMap<String, String>,
}

impl RecordedInput {
    /// Records only the names of the sensitive variables.
    pub fn redacting<'a>(
        input_parameters: Map<String, Value>,
        nonsensitive_user_variables: BTreeMap<String, String>,
        sensitive_names: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        let redacted = sensitive_names.into_iter().map(|name| (name.clone(), REDACTED.to_owned()));
        Self { input_parameters, nonsensitive_user_variables, sensitive_user_variables: redacted.collect() }
    }
}

impl<P> RecordedInput<P> {
    /// Returns the names of the sensitive variables, each with [`REDACTED`].
    pub const fn sensitive_user_variables(&self) -> &BTreeMap<String, String> {
        &self.sensitive_user_variables
    }
}

/// The start of a run. It is durable before the run begins.
#[derive(Clone, Debug)]
pub struct InvocationStarted {
    pub id: InvocationId,
    pub organization: OrganizationId,
    /// `None` for the test of a branch, which belongs to no tool yet.
    pub tool: Option<ToolId>,
    pub tool_version: Option<Version>,
    pub source: InvocationSource,
    pub mode: InvocationMode,
    pub input: RecordedInput,
    pub started_at: Timestamp,
}

/// The end of a run. It is durable before the caller gets the result.
#[derive(Clone, Debug)]
pub struct InvocationFinished {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub finished: Finished,
    /// The tape for replays. `None` when it is not stored.
    pub tape: Option<NewTape>,
    /// Recorded answers for simulations. `None` when they are not stored.
    pub answers: Option<NewAnswers>,
}

/// The result of a run. `E` is the type of a status event: JSON that was parsed, or for a record that is read from the
/// database, the text of the JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished<E = Value> {
    pub at: Timestamp,
    pub duration_ms: u64,
    pub outcome: InvocationOutcome,
    /// Whether the output belongs to the log of the conversation.
    pub persisted: bool,
    /// The status events of the run, in order.
    pub status_events: Vec<E>,
    /// The printed output, both streams interleaved, up to the runner's limit.
    pub logs: String,
    /// `None` for a run during which the server stopped, and for runs of earlier releases.
    pub ledger: Option<Ledger>,
}

/// The outcome of a run. Texts are stored exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvocationOutcome {
    Succeeded { output: String },
    Failed { exception_type: String, exception_message: String, exception_stack_trace: Vec<String> },
}

/// A stored record. `finished` is `None` while the run is in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub tool: Option<ToolId>,
    pub tool_version: Option<Version>,
    pub source: InvocationSource,
    pub mode: InvocationMode,
    pub input: RecordedInput<RawJson>,
    pub started_at: Timestamp,
    pub finished: Option<Finished<RawJson>>,
}
