//! Results and records of runs.

use std::collections::BTreeMap;

use registry::{
    ContentBlock, InvocationMode, InvokeStep, Ledger, Origin, Outcome, RawJson, Record, RunEnd, RunId, Version,
};
use runner::RunResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::agent_call::AgentCall;
use super::source::InvocationSource;
/// The tool id and the version of a branch test or of a native tool, which have neither: clients of the contract expect both.
const NO_TOOL: &str = "000000000000000000000000";
const NO_VERSION: Version = Version::new(0, 0, 0);

/// The response to an invocation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InvocationResults {
    /// Results in the order of the inputs.
    pub invocation_results: Vec<InvocationResult>,
}

/// The result of one run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InvocationResult {
    #[serde(flatten)]
    pub outcome: RunOutcome,
    pub duration_ms: u64,
    /// The id of the run's record.
    pub invocation_id: RunId,
    /// Whether the output belongs to the log of its conversation.
    pub persisted: bool,
    /// Content blocks that the tool added, also before it failed. Absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
}

/// The outcome of a run. Readers tell the variants apart by their fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "InvocationStatus")]
pub enum RunOutcome {
    Succeeded {
        #[schemars(extend("const" = true))]
        succeeded: bool,
        output: String,
    },
    Failed {
        #[schemars(extend("const" = false))]
        succeeded: bool,
        exception_message: String,
        exception_type: String,
        exception_stack_trace: Vec<String>,
    },
}

/// The branch of a branch test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedBranch {
    pub commit_branch: String,
    pub commit: String,
}

/// The record of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolInvocation {
    pub id: String,
    pub org_id: String,
    /// The time at which the run began.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// The time at which the run ended.
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
    /// Null while the run goes on. Lists show such runs only if `state` asks for them.
    pub invocation_status: Option<RunOutcome>,
    /// The step that refused the call, which was not executed. Null for other runs.
    #[schemars(with = "Option<InvokeStep>")]
    pub refused_at: Option<String>,
    pub invocation_source: InvocationSource,
    #[schemars(with = "Origin")]
    pub origin: String,
    /// The user of the conversation, or the caller of a run outside of one. Null for a simulated conversation.
    pub user_id: Option<String>,
    /// The API key of the caller. Null for work that goes on without a request of the caller, as the calls of a run of an agent.
    pub api_key_id: Option<String>,
    /// The IP address at the other end of the caller's connection, which is that of a proxy if there is one. Null for
    /// work that goes on without a request of the caller.
    pub caller_address: Option<String>,
    /// The agent through which the tool was called. Null for a call without one.
    pub agent_call: Option<AgentCall>,
    /// The branch and the commit of a branch test.
    pub tested_branch: Option<TestedBranch>,
    pub duration_ms: u64,
    /// The size of the output in bytes. Null while the run goes on, and for a run that failed.
    pub output_bytes: Option<u64>,
    /// Id of the tool; 24 zeros for a branch test and for a native tool.
    pub tool_id: String,
    /// The name of a tool that the server itself provides. Null for other tools.
    pub native_tool: Option<String>,
    pub tool_version: Version,
    #[schemars(with = "Map<String, Value>")]
    pub inputs: RawJson,
    #[schemars(with = "InvocationMode")]
    pub invocation_mode: String,
    pub nonsensitive_user_variables: BTreeMap<String, String>,
    /// Names of the sensitive variables; every value is `[redacted]`.
    pub sensitive_user_variables: BTreeMap<String, String>,
    /// Whether the output belongs to the log of its conversation.
    pub persisted: bool,
    /// The status events of the run, in order.
    #[schemars(with = "Vec<Value>")]
    pub status_events: Vec<RawJson>,
    /// The printed output of the run, at most 64 KiB.
    pub logs: String,
    /// Content blocks that the tool added, also before it failed. Absent when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
}

/// A record with its ledger.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AccountedToolInvocation {
    #[serde(flatten)]
    pub record: ToolInvocation,
    /// The grants, the effects, the refusals and the cost of the run. Null while the run goes on, when its server stopped
    /// during the run, and for a refused call.
    pub ledger: Option<Ledger>,
}

/// An example of results, for the OpenAPI document.
pub(crate) fn results_example() -> Value {
    json!({"invocation_results": [
        {
            "succeeded": true, "output": "HELLO", "duration_ms": 9,
            "invocation_id": "691f3b2a5c1e4d7f8a9b0c1d", "persisted": false,
        },
        {
            "succeeded": false, "exception_type": "ValueError", "exception_message": "too short",
            "exception_stack_trace": ["  File \"tool.py\", line 4, in run_tool"], "duration_ms": 11,
            "invocation_id": "691f3b2a5c1e4d7f8a9b0c1e", "persisted": false,
        },
    ]})
}

/// An example of a record, for the OpenAPI document.
pub(crate) fn run_example() -> Value {
    json!({
        "id": "691f3b2a5c1e4d7f8a9b0c1d", "org_id": "acme", "created_at": "2026-11-20T09:41:00.000Z",
        "updated_at": "2026-11-20T09:41:00.009Z", "duration_ms": 9, "output_bytes": 5,
        "invocation_status": {"succeeded": true, "output": "HELLO"}, "refused_at": null,
        "invocation_source": {
            "type": "regular-conversation", "user_id": "ada", "conversation_id": null, "interaction_id": null,
            "invocation_metadata": {
                "type": "engage-user", "current_state_machine_and_version": ["", 0], "tool_call_round_index": 0,
            },
        },
        "origin": "direct", "user_id": "ada", "api_key_id": "Ab3dEf6hIj9k", "caller_address": "192.0.2.7",
        "agent_call": null, "tested_branch": null,
        "tool_id": "691f3b2a5c1e4d7f8a9b0c1d", "native_tool": null, "tool_version": {"major": 1, "minor": 0, "patch": 0},
        "inputs": {"text": "hello"}, "invocation_mode": "regular",
        "nonsensitive_user_variables": {"first_name": "Ada"}, "sensitive_user_variables": {"pin": "[redacted]"},
        "persisted": false, "status_events": [], "logs": "",
    })
}

impl RunOutcome {
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Succeeded { .. })
    }
}

impl TestedBranch {
    fn of(source: &registry::InvocationSource) -> Option<Self> {
        match source {
            registry::InvocationSource::BranchTest { commit_branch, commit, .. } => {
                Some(Self { commit_branch: commit_branch.clone(), commit: commit.clone() })
            }
            _ => None,
        }
    }
}

impl ToolInvocation {
    /// The version that ran; `None` for a branch test and for a native tool.
    pub fn published_version(&self) -> Option<Version> {
        (self.tool_version != NO_VERSION).then_some(self.tool_version)
    }
}

impl InvocationResults {
    /// The response from the records of the runs; `None` when one of the runs has not ended.
    pub(crate) fn of_records(runs: Vec<Record>) -> Option<Self> {
        let invocation_results = runs.into_iter().map(InvocationResult::of_record).collect::<Option<_>>()?;
        Some(Self { invocation_results })
    }
}

impl InvocationResult {
    fn of_record(run: Record) -> Option<Self> {
        let RunEnd { outcome, duration_ms, persisted, content, .. } = run.end?;
        Some(Self { outcome: outcome.into(), duration_ms, invocation_id: run.start.id, persisted, content })
    }
}

impl From<RunResult> for InvocationResult {
    fn from(result: RunResult) -> Self {
        let RunResult { outcome, invocation_id, duration_ms, persisted, content, .. } = result;
        Self { outcome: outcome.into(), duration_ms, invocation_id, persisted, content }
    }
}

impl From<Outcome> for RunOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded { output } => Self::Succeeded { succeeded: true, output },
            Outcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                Self::Failed { succeeded: false, exception_message, exception_type, exception_stack_trace }
            }
        }
    }
}

impl From<Record> for ToolInvocation {
    fn from(Record { start: run, end }: Record) -> Self {
        let sensitive_user_variables = run.input.sensitive_user_variables().clone();
        let (created_at, origin) = (run.started_at.to_string(), run.origin().as_str().to_owned());
        let mut record = Self {
            id: run.id.into(),
            org_id: run.organization.into(),
            updated_at: created_at.clone(),
            created_at,
            invocation_status: None,
            refused_at: None,
            origin,
            user_id: run.source.user_id().map(str::to_owned),
            api_key_id: run.api_key_id.map(String::from),
            caller_address: run.caller_address.map(|address| address.to_canonical().to_string()),
            agent_call: run.via.agent_call().cloned().map(AgentCall::from),
            tested_branch: TestedBranch::of(&run.source),
            invocation_source: InvocationSource::of(run.source, run.mode),
            duration_ms: 0,
            output_bytes: None,
            tool_id: run.tool.map_or_else(|| NO_TOOL.to_owned(), String::from),
            native_tool: run.native_tool.map(String::from),
            tool_version: run.tool_version.unwrap_or(NO_VERSION),
            inputs: run.input.input_parameters,
            invocation_mode: run.mode.as_str().to_owned(),
            nonsensitive_user_variables: run.input.nonsensitive_user_variables,
            sensitive_user_variables,
            persisted: false,
            status_events: Vec::new(),
            logs: String::new(),
            content: Vec::new(),
        };
        if let Some(end) = end {
            record.finish(end);
        }
        record
    }
}

impl ToolInvocation {
    fn finish(&mut self, end: RunEnd<RawJson>) {
        self.updated_at = end.at.to_string();
        self.output_bytes = end.outcome.output().map(|output| output.len() as u64);
        self.invocation_status = Some(end.outcome.into());
        self.refused_at = end.refused_at.map(|step| step.as_str().to_owned());
        self.duration_ms = end.duration_ms;
        self.persisted = end.persisted;
        self.status_events = end.status_events;
        self.logs = end.logs;
        self.content = end.content;
    }
}

impl From<Record> for AccountedToolInvocation {
    fn from(mut run: Record) -> Self {
        let ledger = run.end.as_mut().and_then(|end| end.ledger.take());
        Self { record: run.into(), ledger }
    }
}
