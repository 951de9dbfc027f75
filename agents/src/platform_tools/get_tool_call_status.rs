//! `get_tool_call_status`: whether a call of the same conversation goes on, and how it ended.

use futures_util::future::BoxFuture;
use registry::{Permission, RunId, suggest_in};
use runner::{Outcome, Reach, ToolEffect, failed, schema_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversations::RunStatus;
use crate::platform_call::{PlatformCall, PlatformToolSpec};

pub(super) const TOOL: PlatformToolSpec = PlatformToolSpec {
    title: Some("Get the status of a tool call"),
    description: Some(
        "Says whether an earlier tool call of this conversation is running, has succeeded or has failed, and how long it took. \
        Use it before you call a slow tool again.",
    ),
    permission: Some(Permission::OwnAccount),
    effect: Some(ToolEffect::ReadOnly),
    reach: Reach::Unlisted,
    input_schema: Some(schema_of::<Wanted>),
    output_schema: Some(schema_of::<Status>),
    handler: Some(handle),
    ..PlatformToolSpec::new("", "get_tool_call_status")
};

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Wanted {
    /// The invocation id of the call.
    #[schemars(length(max = 64))]
    invocation_id: String,
}

/// The status of a call.
#[derive(Serialize, JsonSchema)]
struct Status {
    invocation_id: String,
    /// `running`, `succeeded` or `failed`.
    status: &'static str,
    /// Milliseconds that the call took. Null while it runs.
    duration_ms: Option<u64>,
    /// The time at which the call started.
    started_at: String,
}

fn handle(call: PlatformCall) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let wanted: Wanted = match serde_json::from_value(Value::Object(call.arguments)) {
            Ok(wanted) => wanted,
            Err(error) => return failed("input_schema", suggest_in(error.to_string())),
        };
        let Some(runs) = call.runs else {
            return failed("turn_missing", "the tool can be called in a turn of a conversation only");
        };
        let Ok(run) = RunId::parse(&wanted.invocation_id) else { return unknown(&wanted.invocation_id) };
        match runs.find(&run).await {
            Ok(Some(found)) => answer(wanted.invocation_id, found),
            Ok(None) => unknown(&wanted.invocation_id),
            Err(error) => {
                tracing::error!(%error, "the status of a call cannot be read");
                failed("internal", "the status cannot be read")
            }
        }
    })
}

fn unknown(run: &str) -> Outcome {
    failed("tool_call_unknown", format!("this conversation has no tool call {run}"))
}

fn answer(invocation_id: String, RunStatus { started_at, end }: RunStatus) -> Outcome {
    let status = match end.map(|end| end.succeeded) {
        None => "running",
        Some(true) => "succeeded",
        Some(false) => "failed",
    };
    let duration_ms = end.map(|end| end.duration_ms);
    let status = Status { invocation_id, status, duration_ms, started_at: started_at.to_string() };
    match serde_json::to_string(&status) {
        Ok(output) => Outcome::Succeeded { output },
        Err(error) => failed("internal", error.to_string()),
    }
}
