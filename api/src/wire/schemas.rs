//! The JSON Schemas of values that responses contain as the registry stores them.
//!
//! The registry has no schemas. A field names its schema with `#[schemars(with = "…")]`.

#![expect(dead_code, reason = "the schemas alone are used")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

// An id of a stored row. Fields describe it.
#[derive(JsonSchema)]
#[schemars(inline, extend("pattern" = "^[a-f0-9]{24}$"))]
pub(crate) struct Id(String);

/// The version of a tool. Orders by precedence; displays as `major.minor.patch`.
#[derive(JsonSchema)]
pub(crate) struct Version {
    major: u64,
    minor: u64,
    patch: u64,
}

/// A permission of a user within an organisation. Displays as its name in the API.
#[derive(JsonSchema)]
pub(crate) enum Permission {
    #[serde(rename = "Tool:CreateTool")]
    CreateTool,
    #[serde(rename = "Tool:ModifyTool")]
    ModifyTool,
    #[serde(rename = "Tool:DeleteTool")]
    DeleteTool,
    #[serde(rename = "Tool:InvokeTool")]
    InvokeTool,
    /// Read and write the organisation's repository.
    #[serde(rename = "Tool:AccessRepo")]
    AccessRepo,
    /// See tools, their versions and the scaffold.
    #[serde(rename = "Tool:GetTool")]
    GetTool,
    /// Build and run a branch without publishing.
    #[serde(rename = "Tool:TestTool")]
    TestTool,
    /// Read and search the history of runs.
    #[serde(rename = "Tool:GetInvocation")]
    GetInvocation,
    /// Manage users, roles and the keys of all users.
    #[serde(rename = "Organization:Admin")]
    Administer,
    /// Read and manage one's own account and keys. Every signed-in user has it; roles cannot grant it.
    #[serde(rename = "User:Self")]
    OwnAccount,
}

/// The origin of a run.
#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum InvocationSource {
    RegularConversation {
        user_id: String,
        conversation_id: Option<String>,
        interaction_id: Option<String>,
        invocation_metadata: InvocationMetadata,
    },
    SimulationConversation {
        simulation_unit_test_set_run_id: Option<String>,
        unit_test_id: Option<String>,
        run_index: Option<i64>,
        invocation_metadata: InvocationMetadata,
    },
    /// A call without a conversation.
    Direct { user_id: String },
    /// The test of an unpublished branch.
    BranchTest { user_id: String, commit_branch: String, commit: String },
}

/// The state of the agent's state machine at the call.
#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum InvocationMetadata {
    StateTransition {
        current_state_machine_and_version: (String, i64),
        state_name: String,
        state_transition_index: i64,
        tool_call_round_index: i64,
    },
    EngageUser {
        current_state_machine_and_version: (String, i64),
        tool_call_round_index: i64,
    },
    ToolCallState {
        current_state_machine_and_version: (String, i64),
        state_name: String,
    },
}

/// The mode of a run. A simulation has no effects outside.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InvocationMode {
    Regular,
    ConversationSimulation,
}

/// The ledger of one run. Figures that an earlier release did not measure are zero.
#[derive(Default, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Ledger {
    granted: Granted,
    used: Used,
    refused: Denied,
    cost: RunCost,
}

/// What a run was granted. Values of variables are not part of it.
#[derive(Default, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Granted {
    /// Variables in `config.envvars`, which the tool receives when it is called.
    envvars: Vec<String>,
    /// Variables in `config.secrets`, which the tool receives when it is called.
    secrets: Vec<String>,
    /// Secrets that the server may insert into requests. The tool does not receive them.
    host_secrets: Vec<String>,
    /// Wall-clock limit of the run.
    wall_ms: u64,
    /// CPU time limit of the run.
    cpu_ms: u64,
    /// Memory limit of the run.
    memory_bytes: u64,
}

/// What a run used.
#[derive(Default, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Used {
    /// Variables that the tool received. All variables are passed when the tool is called, and the server cannot see which of
    /// them it reads. Empty when the run ended before the call.
    envvars: Vec<String>,
    /// Secrets that the tool received, and secrets that the server inserted into its requests.
    secrets: Vec<String>,
    /// Reads of the wall clock or the monotonic clock.
    clock_reads: u64,
    /// Random bytes. An interpreter reads some at its start.
    random_bytes: u64,
    status_events: u64,
    /// Bytes printed, including bytes above the limit.
    log_bytes: u64,
    output_bytes: u64,
    /// Outbound requests in the order in which they began.
    http: Vec<HttpRequestUse>,
}

/// One outbound request, sent or refused. Paths and contents are not recorded, because they may contain anything.
#[derive(Default, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct HttpRequestUse {
    method: String,
    /// The host, with its port unless that is the scheme's default. Empty when the URL names no host.
    host: String,
    /// Status code of the response. Null without a response.
    status: Option<u16>,
    /// Reason for the missing response: `denied`, `timeout`, …; `cancelled` when the tool dropped the request or ended.
    error: Option<String>,
    /// Whether the server refused to send the request.
    is_refused: bool,
    /// Source of the response: `network`, or in a simulation also `mock` or `recorded`.
    answered_by: Option<String>,
    /// Bytes on the wire, including headers. Zero for a mock or recorded response.
    sent_bytes: u64,
    received_bytes: u64,
    duration_ms: u64,
    /// Secrets that the server inserted into the request headers.
    secrets: Vec<String>,
}

/// What the server refused.
#[derive(Default, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Denied {
    http_requests: u64,
    /// Status events above the limits on number or size.
    status_events: u64,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RunCost {
    /// CPU time of the tool, and of the server on its behalf, rounded up.
    cpu_ms: u64,
    /// Part of the duration that the run spent in the tool's code, including the start of the instance and the transfer of
    /// input and output.
    guest_us: u64,
    /// Part of the duration that the run spent in server functions, without waiting.
    host_us: u64,
    /// The rest of the duration: waiting for timers, for responses and for other runs.
    waiting_us: u64,
    /// Peak memory.
    memory_peak_bytes: u64,
}

/// The language that a tool is written in.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    Python,
    JavaScript,
    Rust,
}

/// The settings of a version, from the project's manifest.
#[derive(JsonSchema)]
pub(crate) struct VersionSettings {
    language: Language,
    entry_point: String,
    /// Patterns of the hosts that its requests may go to.
    allowed_hosts: Vec<String>,
    /// JSON Schema of the output, if the author declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_schema: Option<Value>,
    /// Secrets that the server inserts into requests to these hosts. The tool never receives them.
    #[serde(default)]
    secret_hosts: BTreeMap<String, Vec<String>>,
    /// Digest of the project's mocks for simulations, an artefact.
    #[serde(default)]
    mocks_digest: Option<String>,
    timeout_ms: u64,
    memory_bytes: u64,
    #[serde(default)]
    limits: RunBounds,
    /// Whether tapes of its runs are stored, so that the runs can be replayed.
    #[serde(default = "yes")]
    tape: bool,
    /// Whether the answers to the requests of its runs are stored, and given to simulations.
    #[serde(default)]
    recorded_answers: bool,
    /// The WIT world that it was built against. Null for versions of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    world: Option<ToolWorld>,
}

/// Limits of a run that a version sets itself. Absent limits have their defaults. The operator's limits apply in any case.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct RunBounds {
    /// CPU time, without time spent waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu_ms: Option<u64>,
    /// Elements over all tables of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table_elements: Option<u64>,
    /// Open streams, timers and other host resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handles: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_characters: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status_events: Option<u64>,
    /// Bytes of one status event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status_event_bytes: Option<u64>,
    /// Bytes of printed text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_bytes: Option<u64>,
    /// Outbound requests, including refused requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http_requests: Option<u64>,
    /// Concurrent outbound requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http_parallel: Option<u64>,
    /// Bytes of a request body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http_request_bytes: Option<u64>,
    /// Bytes of a response body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http_response_bytes: Option<u64>,
    /// Bytes sent and received over all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    http_bytes: Option<u64>,
}

/// The interfaces between a version and the server, with their WIT names and versions.
#[derive(JsonSchema)]
pub(crate) struct ToolWorld {
    /// The name of the world, such as `lathe:tool/tool@0.1.0`.
    name: String,
    /// Interfaces that the component imports. For an interpreted language all imports of the world, because the interpreter
    /// imports them for any code.
    imports: Vec<String>,
    /// Exported functions, such as `run-tool`.
    exports: Vec<String>,
}

/// The default for versions of earlier releases.
const fn yes() -> bool {
    true
}
