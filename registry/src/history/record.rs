//! The record of a run, its start and its end, and the events that write it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::NewAnswers;
use super::call_via::CallVia;
use super::content::ContentBlock;
use super::invocation_mode::InvocationMode;
use super::invocation_source::{InvocationSource, Origin};
use super::invoke_step::InvokeStep;
use super::ledger::Ledger;
use super::tape::NewTape;
use crate::access::{ApiKeyId, Principal};
use crate::kit::account::{AccountId, OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::kit::ids::{OperationId, RunId, ToolId};
use crate::text::raw_json::RawJson;
use crate::tools::NativeToolName;
use crate::versions::Version;

/// Replaces the values of sensitive variables in records.
pub const REDACTED: &str = "[redacted]";

/// The `exception_type` of runs during which the server stopped.
pub const ORPHANED: &str = "orphaned";

/// The input of a run, as it is recorded: sensitive values are redacted. The parameters are an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedInput {
    pub input_parameters: RawJson,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    sensitive_user_variables: BTreeMap<String, String>,
}

impl RecordedInput {
    /// Records only the names of the sensitive variables.
    pub fn redacting<'a>(
        input_parameters: impl Into<RawJson>,
        nonsensitive_user_variables: BTreeMap<String, String>,
        sensitive_names: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        let redacted = sensitive_names.into_iter().map(|name| (name.clone(), REDACTED.to_owned()));
        Self {
            input_parameters: input_parameters.into(),
            nonsensitive_user_variables,
            sensitive_user_variables: redacted.collect(),
        }
    }

    /// Returns the names of the sensitive variables, each with [`REDACTED`].
    pub const fn sensitive_user_variables(&self) -> &BTreeMap<String, String> {
        &self.sensitive_user_variables
    }
}

/// The start of a run. It is durable before the run begins.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStart {
    pub id: RunId,
    pub organization: OrganizationId,
    /// `None` for the test of a branch, which belongs to no tool yet, and for a native tool.
    pub tool: Option<ToolId>,
    pub tool_version: Option<Version>,
    pub source: InvocationSource,
    /// The account of the caller. The source names a user for people, or one whom the caller claims to act for.
    pub account: AccountId,
    /// The API key of the caller. `None` for work that goes on without a request of the caller, as the address.
    pub api_key_id: Option<ApiKeyId>,
    pub caller_address: Option<IpAddr>,
    pub mode: InvocationMode,
    pub input: RecordedInput,
    pub started_at: Timestamp,
    pub via: CallVia,
    /// The tool that the server itself provides, which has no id.
    pub native_tool: Option<NativeToolName>,
}

impl RunStart {
    /// The start of a regular run of a user of which nothing else is known.
    pub fn minimal(id: RunId, principal: &Principal, source: InvocationSource) -> Self {
        Self {
            id,
            organization: principal.organization.clone(),
            tool: None,
            tool_version: None,
            source,
            account: principal.account.clone(),
            api_key_id: None,
            caller_address: None,
            mode: InvocationMode::Regular,
            input: RecordedInput::default(),
            started_at: Timestamp::from_milliseconds(0),
            via: CallVia::Direct,
            native_tool: None,
        }
    }

    /// Returns the origin of the agent's protocol, or else that of the source.
    pub fn origin(&self) -> Origin {
        self.via.origin().unwrap_or_else(|| self.source.kind().origin())
    }
}

/// The end of a run. It is durable before the caller gets the result. `E` is the type of a status event: JSON that was
/// parsed, or for a record that is read from the database, the text of the JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd<E = Value> {
    pub at: Timestamp,
    pub duration_ms: u64,
    pub outcome: Outcome,
    /// Whether the output belongs to the log of the conversation.
    pub persisted: bool,
    /// The status events of the run, in order.
    pub status_events: Vec<E>,
    /// The printed output, both streams interleaved, up to the runner's limit.
    pub logs: String,
    /// The content blocks of the run, in order.
    pub content: Vec<ContentBlock>,
    /// `None` for a refused call, and for a run of which the server could record only that it has ended.
    pub ledger: Option<Ledger>,
    /// The step that refused the call. `None` for a run that was executed.
    pub refused_at: Option<InvokeStep>,
}

/// The outcome of a run. Texts are stored exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Succeeded { output: String },
    Failed { exception_type: String, exception_message: String, exception_stack_trace: Vec<String> },
}

impl Outcome {
    /// The output of a run that succeeded.
    pub fn output(&self) -> Option<&str> {
        match self {
            Self::Succeeded { output } => Some(output),
            Self::Failed { .. } => None,
        }
    }
}

/// The stored record of a run. `end` is `None` while the run is in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub start: RunStart,
    pub end: Option<RunEnd<RawJson>>,
}

/// An addition to the record of runs, which only grows.
#[derive(Clone, Debug)]
pub enum RecordEvent {
    /// Runs start: one, or the inputs of an operation in their order. All of them are recorded, or none.
    Started {
        operation: Option<OperationId>,
        runs: Vec<RunStart>,
    },
    Finished(Vec<FinishedRun>),
    /// Calls were refused. Each is recorded with its start and its end, or not at all.
    Refused(Vec<RefusedRun>),
    /// A conversation or a simulation is rolled back: its runs lose its ids, and stay in the history.
    Unlinked {
        organization: OrganizationId,
        by: UserId,
        /// The only account whose runs lose the ids. `None` for an administrator, who takes back those of all users.
        own: Option<AccountId>,
        from: Rollback,
    },
}

/// A run that has ended, with what is stored beside its record.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    pub id: RunId,
    pub organization: OrganizationId,
    pub end: RunEnd,
    /// The tape for replays. `None` when it is not stored.
    pub tape: Option<NewTape>,
    /// Recorded answers for simulations. `None` when they are not stored.
    pub answers: Option<NewAnswers>,
}

/// A call that was refused. Its run failed the moment it started.
#[derive(Clone, Debug)]
pub struct RefusedRun {
    pub start: RunStart,
    /// The step that refused the call.
    pub at: InvokeStep,
    /// The code of the error.
    pub code: String,
    pub message: String,
}

impl RefusedRun {
    /// Returns the end of the run.
    pub fn end(&self) -> FinishedRun {
        let Self { start, at, code, message } = self;
        let outcome = Outcome::Failed {
            exception_type: code.clone(),
            exception_message: message.clone(),
            exception_stack_trace: Vec::new(),
        };
        let end = RunEnd {
            at: start.started_at,
            duration_ms: 0,
            outcome,
            persisted: false,
            status_events: Vec::new(),
            logs: String::new(),
            content: Vec::new(),
            ledger: None,
            refused_at: Some(*at),
        };
        FinishedRun { id: start.id.clone(), organization: start.organization.clone(), end, tape: None, answers: None }
    }
}

/// The conversation or the simulation that a rollback takes runs out of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollback {
    /// A conversation, or one interaction of it.
    Conversation {
        id: String,
        interaction_id: Option<String>,
    },
    Simulation {
        run_id: String,
    },
}
