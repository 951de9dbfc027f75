//! A recorded run on the wire.

use std::collections::BTreeMap;

use registry::{Finished, Invocation, InvocationMode, InvocationOutcome, InvocationSource, RawJson, Version};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The tool and version of a branch test, which belongs to none: clients of the contract expect both.
const NO_TOOL: &str = "000000000000000000000000";
const NO_VERSION: Version = Version::new(0, 0, 0);

/// The record of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToolInvocation")]
pub(crate) struct ToolInvocationInstance {
    id: String,
    org_id: String,
    /// When the run began.
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    /// When it ended.
    #[schemars(extend("format" = "date-time"))]
    updated_at: String,
    /// Null while the run goes on, which lists never show.
    invocation_status: Option<InvocationStatus>,
    invocation_source: InvocationSource,
    duration_ms: u64,
    /// Zeros for the test of a branch.
    tool_id: String,
    tool_version: Version,
    #[schemars(with = "Map<String, Value>")]
    inputs: RawJson,
    invocation_mode: InvocationMode,
    nonsensitive_user_variables: BTreeMap<String, String>,
    /// With `[redacted]` for every value.
    sensitive_user_variables: BTreeMap<String, String>,
    /// Whether the output belongs to the log of its conversation.
    persisted: bool,
    /// What the run told while it ran.
    #[schemars(with = "Vec<Value>")]
    status_events: Vec<RawJson>,
    /// What the run printed, at most 64 KiB.
    logs: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum InvocationStatus {
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

/// What a record looks like.
pub(super) fn example() -> Value {
    json!({
        "id": "691f3b2a5c1e4d7f8a9b0c1d", "org_id": "acme", "created_at": "2026-11-20T09:41:00.000Z",
        "updated_at": "2026-11-20T09:41:00.009Z", "duration_ms": 9,
        "invocation_status": {"succeeded": true, "output": "HELLO"},
        "invocation_source": {"type": "direct", "user_id": "ada"},
        "tool_id": "691f3b2a5c1e4d7f8a9b0c1d", "tool_version": {"major": 1, "minor": 0, "patch": 0},
        "inputs": {"text": "hello"}, "invocation_mode": "regular",
        "nonsensitive_user_variables": {"first_name": "Ada"}, "sensitive_user_variables": {"pin": "[redacted]"},
        "persisted": false, "status_events": [], "logs": "",
    })
}

impl From<Invocation> for ToolInvocationInstance {
    fn from(run: Invocation) -> Self {
        let sensitive_user_variables = run.input.sensitive_user_variables().clone();
        let created_at = run.started_at.to_string();
        let end = run.finished.map_or_else(|| End::of_running(&created_at), End::from);
        Self {
            id: run.id.into(),
            org_id: run.organization.into(),
            created_at,
            updated_at: end.updated_at,
            invocation_status: end.status,
            invocation_source: run.source,
            duration_ms: end.duration_ms,
            tool_id: run.tool.map_or_else(|| NO_TOOL.to_owned(), String::from),
            tool_version: run.tool_version.unwrap_or(NO_VERSION),
            inputs: run.input.input_parameters,
            invocation_mode: run.mode,
            nonsensitive_user_variables: run.input.nonsensitive_user_variables,
            sensitive_user_variables,
            persisted: end.persisted,
            status_events: end.status_events,
            logs: end.logs,
        }
    }
}

/// What a record has from the end of its run.
struct End {
    updated_at: String,
    status: Option<InvocationStatus>,
    duration_ms: u64,
    persisted: bool,
    status_events: Vec<RawJson>,
    logs: String,
}

impl End {
    fn of_running(created_at: &str) -> Self {
        Self {
            updated_at: created_at.to_owned(),
            status: None,
            duration_ms: 0,
            persisted: false,
            status_events: Vec::new(),
            logs: String::new(),
        }
    }
}

impl From<Finished<RawJson>> for End {
    fn from(finished: Finished<RawJson>) -> Self {
        Self {
            updated_at: finished.at.to_string(),
            status: Some(finished.outcome.into()),
            duration_ms: finished.duration_ms,
            persisted: finished.persisted,
            status_events: finished.status_events,
            logs: finished.logs,
        }
    }
}

impl From<InvocationOutcome> for InvocationStatus {
    fn from(outcome: InvocationOutcome) -> Self {
        match outcome {
            InvocationOutcome::Succeeded { output } => Self::Succeeded { succeeded: true, output },
            InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                Self::Failed { succeeded: false, exception_message, exception_type, exception_stack_trace }
            }
        }
    }
}
