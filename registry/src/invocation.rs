//! The record of a run: what was started, and how it ended.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::account::OrganizationId;
use crate::answer::NewAnswers;
use crate::clock::Timestamp;
use crate::ids::{InvocationId, ToolId};
use crate::invocation_source::InvocationSource;
use crate::ledger::Ledger;
use crate::raw_json::RawJson;
use crate::tape::NewTape;
use crate::version::Version;

/// What stands in records for the value of a sensitive variable.
pub const REDACTED: &str = "[redacted]";

/// The `exception_type` of runs whose server stopped under them.
pub const ORPHANED: &str = "orphaned";

/// Whether a run acts on the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InvocationMode {
    Regular,
    ConversationSimulation,
}

impl InvocationMode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regular => "regular",
            Self::ConversationSimulation => "conversation-simulation",
        }
    }
}

/// What a run was given, as it is kept: sensitive values are redacted on the way in. The parameters are an object; of a
/// stored record they come back as its text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedInput<P = Map<String, Value>> {
    pub input_parameters: P,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    sensitive_user_variables: BTreeMap<String, String>,
}

impl RecordedInput {
    /// Keeps of the sensitive variables only the names.
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
    /// Name to [`REDACTED`].
    pub const fn sensitive_user_variables(&self) -> &BTreeMap<String, String> {
        &self.sensitive_user_variables
    }
}

/// The first half of a record, durable before the run begins.
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

/// The second half of a record, durable before anybody is answered.
#[derive(Clone, Debug)]
pub struct InvocationFinished {
    pub id: InvocationId,
    pub organization: OrganizationId,
    pub finished: Finished,
    /// What a replay needs, when it is to be kept.
    pub tape: Option<NewTape>,
    /// What its requests were answered, when simulations may have it.
    pub answers: Option<NewAnswers>,
}

/// How a run ended. The status events of a stored record come back as texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished<E = Value> {
    pub at: Timestamp,
    pub duration_ms: u64,
    pub outcome: InvocationOutcome,
    /// Whether the output belongs to the log of its conversation.
    pub persisted: bool,
    /// The status events that the run sent, in order.
    pub status_events: Vec<E>,
    /// What the run printed, both streams as they came, up to the runner's bound.
    pub logs: String,
    /// What the host counted; nothing for a run that its server left, and for runs of earlier releases.
    pub ledger: Option<Ledger>,
}

/// What a run answered. Any text is kept exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvocationOutcome {
    Succeeded { output: String },
    Failed { exception_type: String, exception_message: String, exception_stack_trace: Vec<String> },
}

/// A stored record. `finished` is `None` while the run goes on.
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
