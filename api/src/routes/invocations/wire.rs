//! A recorded run on the wire.

use std::collections::BTreeMap;

use registry::{Finished, Invocation, InvocationMode, InvocationOutcome, InvocationSource, Version};
use serde::Serialize;
use serde_json::{Map, Value};

/// The tool and version of a branch test, which belongs to none: clients of the contract expect both.
const NO_TOOL: &str = "000000000000000000000000";
const NO_VERSION: Version = Version::new(0, 0, 0);

/// The contract's fields, then ours.
#[derive(Serialize)]
pub(crate) struct ToolInvocationInstance {
    id: String,
    org_id: String,
    created_at: String,
    updated_at: String,
    /// Null while the run goes on, which lists never show.
    invocation_status: Option<InvocationStatus>,
    invocation_source: InvocationSource,
    duration_ms: u64,
    tool_id: String,
    tool_version: Version,
    inputs: Map<String, Value>,
    invocation_mode: InvocationMode,
    nonsensitive_user_variables: BTreeMap<String, String>,
    sensitive_user_variables: BTreeMap<String, String>,
    persisted: bool,
    status_events: Vec<Value>,
    logs: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum InvocationStatus {
    Succeeded { succeeded: bool, output: String },
    Failed { succeeded: bool, exception_message: String, exception_type: String, exception_stack_trace: Vec<String> },
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
