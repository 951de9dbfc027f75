//! The schema of the settings of a version.

use std::collections::BTreeMap;

use registry::{Digest, EnvvarName, SchemaText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The language that a tool is written in.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Language", rename_all = "lowercase")]
pub(crate) enum Language {
    Python,
    JavaScript,
    Rust,
}

/// The settings of a version, from the project's manifest.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::VersionSettings")]
pub(crate) struct VersionSettings {
    #[schemars(with = "Language")]
    language: registry::Language,
    entry_point: String,
    /// Patterns of the hosts that its requests may go to.
    allowed_hosts: Vec<String>,
    /// JSON Schema of the output, if the author declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    output_schema: Option<SchemaText>,
    /// Secrets that the server inserts into requests to these hosts. The tool never receives them.
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    secret_hosts: BTreeMap<EnvvarName, Vec<String>>,
    /// SHA-256 of the project's mocks.
    #[schemars(with = "Option<String>")]
    mocks_digest: Option<Digest>,
    timeout_ms: u64,
    memory_bytes: u64,
    #[schemars(with = "RunBounds")]
    limits: registry::RunBounds,
    /// Whether tapes of its runs are stored, so that the runs can be replayed.
    tape: bool,
    /// Whether responses to the requests of its runs are stored and used in simulations.
    recorded_answers: bool,
    /// The WIT world that it was built against.
    #[schemars(with = "ToolWorld")]
    world: registry::ToolWorld,
    /// The author's hints for models and clients. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "registry::Annotations::is_empty")]
    #[schemars(with = "Annotations")]
    annotations: registry::Annotations,
    /// Whether a person confirms each call. Absent for `never`.
    #[serde(default, skip_serializing_if = "registry::Intervention::is_never")]
    #[schemars(with = "Intervention")]
    intervention: registry::Intervention,
    /// Rules for the calls with certain arguments. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<InterventionRule>")]
    intervention_rules: Vec<registry::InterventionRule>,
    /// Whether a call over MCP becomes a task. Absent for `never`.
    #[serde(default, rename = "tasks", skip_serializing_if = "registry::TaskSupport::is_never")]
    #[schemars(with = "TaskSupport")]
    task_support: registry::TaskSupport,
    /// What MCP clients see besides a tool, and when tasks begin. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "registry::McpSettings::is_empty")]
    #[schemars(with = "McpSettings")]
    mcp: registry::McpSettings,
    /// The tools that its runs may call, with the versions that it accepts. Absent if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    calls: BTreeMap<registry::ToolName, registry::Constraint>,
    /// The APIs of the tool. Absent for a tool of one function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, ToolApi>")]
    apis: BTreeMap<registry::ApiName, registry::ToolApi>,
    /// The instructions for models that have some of the APIs. Absent if the author gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    system_role: Option<registry::SystemRole>,
}

/// An API of a version, which agents list by a name of its own.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::ToolApi")]
pub(crate) struct ToolApi {
    /// The text by which a model chooses the API.
    #[schemars(with = "String")]
    description: registry::Description,
    /// JSON Schema of the arguments.
    #[schemars(with = "Value")]
    input_schema: SchemaText,
    /// JSON Schema of the output, if the author declares one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    output_schema: Option<SchemaText>,
    /// The author's hints for models and clients. Absent if nothing is declared.
    #[serde(default, skip_serializing_if = "registry::Annotations::is_empty")]
    #[schemars(with = "Annotations")]
    annotations: registry::Annotations,
    /// Whether a person confirms each call of the API. Absent for `never`.
    #[serde(default, skip_serializing_if = "registry::Intervention::is_never")]
    #[schemars(with = "Intervention")]
    intervention: registry::Intervention,
}

/// Hints of an author about a version, for models and clients. The server does not enforce them. Undeclared hints are absent.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Annotations")]
pub(crate) struct Annotations {
    /// The title of the tool, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    title: Option<registry::ToolTitle>,
    /// Whether calls change nothing outside the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read_only: Option<bool>,
    /// Whether calls may delete or overwrite something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destructive: Option<bool>,
    /// Whether a repeated call with the same input has no further effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotent: Option<bool>,
    /// Whether calls reach systems that other parties change, such as the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_world: Option<bool>,
}

/// Whether a person confirms each call of a version.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Intervention", rename_all = "kebab-case")]
pub(crate) enum Intervention {
    /// Calls need no confirmation.
    Never,
    /// A person confirms each call, unless the caller has confirmed it already.
    Required,
    /// A person confirms each call, whoever the caller is.
    Always,
}

/// A rule for the calls with certain arguments. The strictest of `intervention` and all rules that match a call counts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::InterventionRule")]
pub(crate) struct InterventionRule {
    /// JSON Schemas of arguments. The rule matches a call that has all of them, each as its schema says.
    when: serde_json::Map<String, Value>,
    #[schemars(with = "Intervention")]
    intervention: registry::Intervention,
}

/// Whether a person confirms the calls that an agent makes of a tool: a word for all calls, or an object. The strictest part counts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum HumanIntervention {
    Word(#[schemars(with = "Intervention")] registry::Intervention),
    Parts {
        /// For each call.
        #[serde(default)]
        #[schemars(with = "Intervention")]
        policy: registry::Intervention,
        /// For each call of an API of the tool. Absent if there are none.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        #[schemars(with = "BTreeMap<String, Intervention>")]
        apis: BTreeMap<String, registry::Intervention>,
        /// For the calls with certain arguments. Absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(with = "Vec<InterventionRule>")]
        rules: Vec<registry::InterventionRule>,
    },
}

/// Whether a call of a version over MCP becomes a task of the MCP extension `io.modelcontextprotocol/tasks`. It has no
/// effect on the HTTP API.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::TaskSupport", rename_all = "kebab-case")]
pub(crate) enum TaskSupport {
    /// The response has the result: it is sent when the tool has ended.
    Never,
    /// A client that declares the extension gets a task at once and asks for its result later. Other clients get the
    /// result.
    Optional,
    /// Only clients that declare the extension may call the tool.
    Required,
}

/// What MCP clients see of a version besides a tool, and when its tasks begin.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::McpSettings")]
pub(crate) struct McpSettings {
    /// Whether the tool is a prompt, too. Absent if it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    prompt: bool,
    /// The URI of the resource that a call reads, or a template of URIs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    resource: Option<registry::ResourceUri>,
    /// Whether a call asks its questions before it becomes a task. Absent if it asks them in the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ask_first: bool,
}

/// Limits of a run that a version sets itself. Absent limits have their defaults. The operator's limits apply in any case.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::RunBounds")]
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
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::ToolWorld")]
pub(crate) struct ToolWorld {
    /// The name of the world, such as `lathe:tool/tool@0.1.0`.
    name: String,
    /// Interfaces that the component imports. For an interpreted language all imports of the world, because the interpreter
    /// imports them for any code.
    imports: Vec<String>,
    /// Exported functions, such as `run-tool`.
    exports: Vec<String>,
}
