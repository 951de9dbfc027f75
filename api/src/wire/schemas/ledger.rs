//! The schema of the ledger of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ledger of one run.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Ledger")]
pub(crate) struct Ledger {
    #[schemars(with = "Granted")]
    granted: registry::Granted,
    #[schemars(with = "Used")]
    used: registry::Used,
    #[schemars(with = "Denied")]
    refused: registry::Denied,
    #[schemars(with = "Cost")]
    cost: registry::Cost,
}

/// What a run was granted. Values of variables are not part of it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Granted")]
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
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Used")]
pub(crate) struct Used {
    /// Variables that the tool received. All variables are passed when the tool is called, and the server cannot see which of
    /// them it reads. The list is empty if the run ended before the call.
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
    #[schemars(with = "Vec<HttpUse>")]
    http: Vec<registry::HttpUse>,
    /// Calls of other tools in the order in which they began.
    #[schemars(with = "Vec<CallUse>")]
    calls: Vec<registry::CallUse>,
}

/// A call of another tool, also a refused one.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::CallUse")]
#[schemars(rename = "ToolCallUse")]
pub(crate) struct CallUse {
    /// The name. Empty for a tool that the version does not declare.
    tool: String,
    /// Null for a refused call.
    version: Option<String>,
    /// The run of the tool. Null for a call that was refused or that has no result yet.
    #[schemars(with = "Option<String>")]
    invocation_id: Option<registry::InvocationId>,
    /// Reason for the missing output: the type of the exception, or the code of the refusal; `cancelled` when the calling run
    /// dropped the call or ended.
    error: Option<String>,
    /// Whether the server refused the call.
    is_refused: bool,
    duration_ms: u64,
    /// Resources of the run and of all runs that it called in turn.
    #[schemars(with = "TreeUse")]
    total: registry::TreeUse,
}

/// Resources of a run and of all runs that it called.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::TreeUse")]
#[schemars(rename = "RunTreeUse")]
pub(crate) struct TreeUse {
    runs: u64,
    cpu_ms: u64,
    http_requests: u64,
    http_bytes: u64,
}

/// One outbound request, sent or refused. Paths and contents are not recorded, because they may contain anything.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::HttpUse")]
#[schemars(rename = "HttpRequestUse")]
pub(crate) struct HttpUse {
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
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Denied")]
pub(crate) struct Denied {
    http_requests: u64,
    /// Status events above the limits on number or size.
    status_events: u64,
    /// Calls of tools above the limit on number.
    calls: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "registry::Cost")]
#[schemars(rename = "RunCost")]
pub(crate) struct Cost {
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
