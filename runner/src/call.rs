//! What a caller asks of the runner, and what it gets: plain data.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use registry::{
    Constraint, EnvvarName, InvocationId, InvocationSource, OperationId, Principal, ToolId, Variables, VersionSettings,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::{Code, Depth, InputSchema, Outcome, Standins};

pub use registry::InvocationMode;

/// A longer output fails its input. A character is a Unicode scalar value.
pub const OUTPUT_CHARACTERS_MAX: usize = 20_000;
/// A longer output is not kept in a conversation's log.
pub const PERSISTED_CHARACTERS_MAX: usize = 5_000;
/// Inputs of one call, which run in parallel.
pub const INPUTS_MAX: usize = 10;

/// One call of a tool with up to ten inputs.
pub struct Call {
    pub subject: Subject,
    pub principal: Principal,
    pub inputs: Vec<Input>,
    pub source: InvocationSource,
    pub result_persistence: ResultPersistence,
    pub conversation: Option<Conversation>,
    pub depth: Depth,
    /// The runs are recorded as those of this operation.
    pub operation: Option<OperationId>,
}

/// What is called.
#[derive(Debug)]
pub enum Subject {
    /// The highest live version of a tool that the constraint admits.
    Version { tool: ToolId, constraint: Constraint },
    /// A branch's tip, built for a test and not published.
    Candidate(Box<Candidate>),
}

/// A built tool that is no version.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The live tool of the same name, when there is one.
    pub tool: Option<ToolId>,
    pub tool_name: String,
    pub code: Code,
    pub input_schema: InputSchema,
    pub mocks: Arc<Standins>,
    pub settings: VersionSettings,
    /// What the manifest asks for.
    pub required_envvars: Vec<EnvvarName>,
    pub required_secret_envvars: Vec<EnvvarName>,
    pub variables: Variables,
    pub commit: String,
}

#[derive(Clone)]
pub struct Input {
    pub input_parameters: Map<String, Value>,
    pub invocation_mode: InvocationMode,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    pub sensitive_user_variables: BTreeMap<String, String>,
}

/// Whether a result belongs in the conversation's log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResultPersistence {
    Ephemeral,
    #[default]
    PersistedPreferred,
    Persisted,
}

/// Where in a conversation the call stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    pub conversation_id: Option<String>,
    pub interaction_id: Option<String>,
    pub user_id: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub invocation_id: InvocationId,
    pub outcome: Outcome,
    pub duration_ms: u64,
    pub persisted: bool,
}

/// A tool's word on its progress.
#[derive(Debug, Clone)]
pub struct StatusEvent {
    pub invocation_id: InvocationId,
    /// Position among the call's inputs, from zero.
    pub input_index: usize,
    pub message: String,
    pub progress: Option<f64>,
    pub total: Option<f64>,
    pub data: Option<Value>,
}

/// Events that wait for a slow listener; what comes beyond is dropped and
/// counted, since a listener must never hold up a run.
const EVENTS_WAITING_MAX: usize = 256;

/// Where status events go. A listener that is gone, or slow, costs nothing.
#[derive(Debug, Clone, Default)]
pub struct EventSender {
    sender: Option<mpsc::Sender<StatusEvent>>,
    left_out: Arc<AtomicU64>,
}

impl EventSender {
    /// Nobody listens.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn channel() -> (Self, mpsc::Receiver<StatusEvent>) {
        let (sender, receiver) = mpsc::channel(EVENTS_WAITING_MAX);
        (Self { sender: Some(sender), left_out: Arc::default() }, receiver)
    }

    /// How many events its listener did not get, of all clones together.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Never waits.
    pub fn send(&self, event: StatusEvent) {
        if self.sender.as_ref().is_some_and(|sender| sender.try_send(event).is_err()) {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}
