//! A recorded run on the wire.

use std::collections::BTreeMap;

use registry::{Finished, Invocation, InvocationMode, InvocationOutcome, InvocationSource, Version};
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
    inputs: Map<String, Value>,
    invocation_mode: InvocationMode,
    nonsensitive_user_variables: BTreeMap<String, String>,
    /// With `[redacted]` for every value.
    sensitive_user_variables: BTreeMap<String, String>,
    /// Whether the output belongs to the log of its conversation.
    persisted: bool,
    /// What the run told while it ran.
    status_events: Vec<Value>,
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
        let started_at = run.started_at.to_string();
        let finished = run.finished;
        Self {
            id: run.id.into(),
            org_id: run.organization.into(),
            updated_at: finished.as_ref().map_or_else(|| started_at.clone(), |finished| finished.at.to_string()),
            created_at: started_at,
            duration_ms: finished.as_ref().map_or(0, |finished| finished.duration_ms),
            persisted: finished.as_ref().is_some_and(|finished| finished.persisted),
            status_events: finished.as_ref().map(|finished| finished.status_events.clone()).unwrap_or_default(),
            logs: finished.as_ref().map(|finished| finished.logs.clone()).unwrap_or_default(),
            invocation_status: finished.map(InvocationStatus::from),
            invocation_source: run.source,
            tool_id: run.tool.map_or_else(|| NO_TOOL.to_owned(), String::from),
            tool_version: run.tool_version.unwrap_or(NO_VERSION),
            inputs: run.input.input_parameters,
            invocation_mode: run.mode,
            nonsensitive_user_variables: run.input.nonsensitive_user_variables,
            sensitive_user_variables,
        }
    }
}

impl From<Finished> for InvocationStatus {
    fn from(finished: Finished) -> Self {
        match finished.outcome {
            InvocationOutcome::Succeeded { output } => Self::Succeeded { succeeded: true, output },
            InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => {
                Self::Failed { succeeded: false, exception_message, exception_type, exception_stack_trace }
            }
        }
    }
}
