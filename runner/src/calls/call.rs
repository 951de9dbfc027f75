//! Calls of tools and their results, as plain data.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use registry::{
    ApiName, Callable, Constraint, ContentBlock, Digest, EnvvarName, HumanIntervention, OperationId, RawJson, RunId,
    SecretValue, ToolId, TreeUse, Trust, UserVariables, Variables, Version, VersionSettings,
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::calls::caller::ToolCaller;
use crate::calls::native::NativeTool;
use crate::calls::schema::InputSchema;
use crate::depth::Depth;
use crate::interaction::{Asked, Interaction};
use crate::sandbox::egress::CompiledMocks;
use crate::sandbox::execution::Code;
use crate::sandbox::outcome::Outcome;
use crate::sandbox::ports::LogLevel;

pub use registry::{InvocationMode, ResultPersistence};

/// The version of a branch that is not published.
pub(crate) const UNPUBLISHED: Version = Version { major: 0, minor: 0, patch: 0 };
/// Unicode scalar values of the longest output that belongs in the log of the caller.
pub const PERSISTED_CHARACTERS_MAX: usize = 5_000;
/// Inputs of one call. They run in parallel.
pub const INPUTS_MAX: usize = 10;

/// One call of a tool with up to ten inputs.
pub struct Call {
    pub subject: Subject,
    pub inputs: Vec<Input>,
    pub caller: ToolCaller,
    /// The components that the version must have.
    pub pinned: Vec<Digest>,
    /// The confirmation that the side of the caller asks for, besides what the tool declares.
    pub human_intervention: HumanIntervention,
    pub result_persistence: ResultPersistence,
    pub depth: Depth,
    pub origin: CallOrigin,
    /// The id of the run of a call with one input; `None` for new ids.
    pub run_id: Option<RunId>,
    /// The operation to which the runs are recorded.
    pub operation: Option<OperationId>,
    /// Cancels the runs when the client goes away.
    pub cancelled: CancellationToken,
    /// Questions that the runs may ask the client, and its answers.
    pub interaction: Interaction,
}

impl Call {
    /// A call of a client, which nothing cancels and whose runs ask nobody.
    #[must_use]
    pub fn new(subject: Subject, caller: ToolCaller, inputs: Vec<Input>) -> Self {
        Self {
            subject,
            inputs,
            caller,
            pinned: Vec::new(),
            human_intervention: HumanIntervention::default(),
            result_persistence: ResultPersistence::default(),
            depth: Depth::default(),
            origin: CallOrigin::Client,
            run_id: None,
            operation: None,
            cancelled: CancellationToken::new(),
            interaction: Interaction::default(),
        }
    }
}

/// Where a call comes from.
#[derive(Debug, Clone, Default)]
pub enum CallOrigin {
    /// A client of the server.
    #[default]
    Client,
    /// Work of the server that keeps the results in its checkpoints.
    Checkpointed,
    /// A run of another tool.
    Run(ParentRun),
}

/// The run that calls another tool.
#[derive(Debug, Clone)]
pub struct ParentRun {
    /// The calls of all runs that one call of a client has caused.
    pub(crate) tree: CallTree,
    /// The secrets of the calling run. Its arguments may contain them.
    pub(crate) secrets: Vec<SecretValue>,
    /// The arguments without these secrets, for the record of the call.
    pub(crate) recorded_arguments: Arc<RawJson>,
}

/// A bound of the calls that runs make, counted over all runs that one call of a client has caused.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallTree(Arc<AtomicU32>);

impl CallTree {
    /// Calls within one call of a client.
    pub(crate) const CALLS_MAX: u32 = 100;

    /// Counts a call. Returns `false` when there were as many as there may be.
    pub(crate) fn admit_another(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) < Self::CALLS_MAX
    }
}

impl CallOrigin {
    /// The tree of the call's runs.
    pub(crate) fn tree(&self) -> CallTree {
        match self {
            Self::Client | Self::Checkpointed => CallTree::default(),
            Self::Run(parent) => parent.tree.clone(),
        }
    }

    /// The calling run.
    pub(crate) const fn parent(&self) -> Option<&ParentRun> {
        match self {
            Self::Client | Self::Checkpointed => None,
            Self::Run(parent) => Some(parent),
        }
    }
}

/// The code that a call runs.
#[derive(Debug)]
pub enum Subject {
    /// The highest live version of a tool that matches the constraint.
    Version { tool: ToolId, constraint: Constraint },
    /// An API of a version. The inputs of the call are arguments of the API.
    Api { tool: ToolId, version: Version, api: ApiName },
    /// The tip of a branch, built for a test and not published.
    Candidate(Box<Candidate>),
    /// A tool that the server itself provides.
    Native(Arc<NativeTool>),
    /// A tool that the caller is not shown. The call is refused when it is resolved, so that it has a record.
    NotPresented { tool: String, presented: Vec<String> },
}

impl Subject {
    /// The version of a listed tool, or the API of it that the list shows.
    #[must_use]
    pub fn of(callable: &Callable, api: Option<&ApiName>) -> Self {
        let (tool, version) = (callable.tool.id.clone(), callable.version.version);
        match api {
            Some(api) => Self::Api { tool, version, api: api.clone() },
            None => Self::Version { tool, constraint: Constraint::exactly(version) },
        }
    }

    /// The API whose arguments the inputs of the call are.
    pub(crate) fn api(&self) -> Option<&ApiName> {
        match self {
            Self::Api { api, .. } => Some(api),
            Self::Version { .. } | Self::Candidate(_) | Self::Native(_) | Self::NotPresented { .. } => None,
        }
    }
}

/// A built tool that is not published.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub tool_name: String,
    pub code: Code,
    pub input_schema: InputSchema,
    pub mocks: Arc<CompiledMocks>,
    pub settings: VersionSettings,
    /// Variables that the manifest requires.
    pub required_envvars: Vec<EnvvarName>,
    pub required_secret_envvars: Vec<EnvvarName>,
    pub variables: Variables,
    pub commit: String,
}

/// One input of a call. It is serialised in the format of the HTTP API.
#[derive(Clone, Serialize)]
pub struct Input {
    /// An object, unparsed: many inputs may wait, and a parsed document takes many times the memory of its text.
    pub input_parameters: RawJson,
    pub invocation_mode: InvocationMode,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    pub sensitive_user_variables: BTreeMap<String, String>,
}

impl Input {
    /// An input without user variables, as callers send it whose variables are stored.
    #[must_use]
    pub fn of(input_parameters: impl Into<RawJson>) -> Self {
        Self {
            input_parameters: input_parameters.into(),
            invocation_mode: InvocationMode::Regular,
            nonsensitive_user_variables: BTreeMap::new(),
            sensitive_user_variables: BTreeMap::new(),
        }
    }

    /// Bytes of the input, which it takes until its run has ended.
    pub(crate) fn bytes(&self) -> usize {
        let variables = self.nonsensitive_user_variables.iter().chain(&self.sensitive_user_variables);
        self.input_parameters.bytes() + variables.map(|(name, value)| name.len() + value.len()).sum::<usize>()
    }

    /// Adds the stored variables of the user whose names the caller did not send.
    pub(crate) fn or_stored(mut self, stored: &UserVariables) -> Self {
        for (name, value) in &stored.nonsensitive {
            if !self.has_user_variable(name.as_str()) {
                self.nonsensitive_user_variables.insert(name.to_string(), value.clone());
            }
        }
        for (name, value) in &stored.sensitive {
            if !self.has_user_variable(name.as_str()) {
                self.sensitive_user_variables.insert(name.to_string(), value.expose().to_owned());
            }
        }
        self
    }

    fn has_user_variable(&self, name: &str) -> bool {
        self.nonsensitive_user_variables.contains_key(name) || self.sensitive_user_variables.contains_key(name)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub invocation_id: RunId,
    pub outcome: Outcome,
    pub duration_ms: u64,
    pub persisted: bool,
    pub trust: Trust,
    /// Content blocks that the tool added, also before it failed.
    pub content: Vec<ContentBlock>,
    /// The published version that ran.
    pub version: Option<Version>,
    /// Resources that the run used, with the runs that it called.
    pub total: TreeUse,
    /// Questions that ended the run, and those that its client cannot answer.
    pub asked: Asked,
}

/// A tool's report of its progress.
#[derive(Debug, Clone)]
pub struct StatusEvent {
    pub invocation_id: RunId,
    /// Position among the call's inputs, from zero.
    pub input_index: usize,
    pub message: String,
    pub progress: Option<f64>,
    pub total: Option<f64>,
    pub data: Option<Value>,
}

/// A log message of a tool.
#[derive(Debug, Clone)]
pub struct LogEvent {
    pub invocation_id: RunId,
    /// Position among the call's inputs, from zero.
    pub input_index: usize,
    pub level: LogLevel,
    pub logger: Option<String>,
    pub data: Value,
}

/// An event of a running call.
#[derive(Debug, Clone)]
pub enum RunEvent {
    Status(StatusEvent),
    Log(LogEvent),
}

/// Events queued for a slow listener. Further events are dropped and counted, since a listener must never delay a run.
const EVENTS_WAITING_MAX: usize = 256;

/// Sends status events and log messages to a listener. A slow or closed listener never delays a run.
#[derive(Debug, Clone, Default)]
pub struct EventSender {
    sender: Option<mpsc::Sender<RunEvent>>,
    sends_logs: bool,
    dropped: Arc<AtomicU64>,
    /// Told when the starts of the runs are recorded.
    started: Option<CancellationToken>,
}

impl EventSender {
    /// Returns a sender whose events nobody receives.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns a sender without a listener that cancels a token when the starts of the runs are recorded.
    #[must_use]
    pub fn of_start(started: CancellationToken) -> Self {
        Self { started: Some(started), ..Self::default() }
    }

    /// Notes that the starts of the runs are recorded.
    pub(crate) fn note_started(&self) {
        if let Some(started) = &self.started {
            started.cancel();
        }
    }

    /// Returns a sender of status events and log messages.
    #[must_use]
    pub fn channel() -> (Self, mpsc::Receiver<RunEvent>) {
        let (sender, receiver) = mpsc::channel(EVENTS_WAITING_MAX);
        (Self { sender: Some(sender), sends_logs: true, ..Self::default() }, receiver)
    }

    /// Returns a sender of status events for a listener that does not show log messages.
    #[must_use]
    pub fn status_channel() -> (Self, mpsc::Receiver<RunEvent>) {
        let (sender, receiver) = Self::channel();
        (Self { sends_logs: false, ..sender }, receiver)
    }

    /// Number of events that the listener did not receive, over all clones.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Sends an event without waiting.
    pub fn send(&self, event: RunEvent) {
        if matches!(event, RunEvent::Log(_)) && !self.sends_logs {
            return;
        }
        if self.sender.as_ref().is_some_and(|sender| sender.try_send(event).is_err()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}
