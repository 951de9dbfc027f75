//! A call of a native tool by its route: the same steps and records as every other call, on behalf of a user without an agent.

use std::sync::Arc;

use agents::{library_failure, library_refusal};
use api_kit::caller_names;
use api_kit::error::Error;
use api_kit::request_identity::RequestIdentity;
use api_kit::tasks::Tasks;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use registry::{CallerNames, Outcome, Principal};
use runner::{
    Call, EventSender, Input, Invoker, NativeTool, Refusal, RunResult, Subject, ToolCaller, ToolEffect, ToolRoute,
};
use serde_json::{Map, Value};

use super::arguments::read_arguments;
use super::envelope::{respond_with_failure, respond_with_success};

/// A request that calls a tool.
pub(super) struct ToolRequest {
    /// The name of the tool.
    pub(super) name: &'static str,
    pub(super) route: ToolRoute,
    pub(super) principal: Principal,
    pub(super) request: Request,
}

impl ToolRequest {
    /// Runs the tool. The run goes on when the client disconnects.
    pub(super) async fn respond(self, invoker: Invoker, tasks: Tasks) -> Result<Response, Error> {
        let Self { name, route, principal, request } = self;
        let tool = invoker.native_tools().iter().find(|tool| tool.name == name).cloned();
        let tool = tool.ok_or_else(|| refuse_internal(&format!("the native tool {name} is missing")))?;
        let names = caller_names::read(request.headers())?;
        let identity = request.extensions().get::<RequestIdentity>().cloned().unwrap_or_default();
        let arguments = read_arguments(request, route, &tool.input_schema).await?;
        let call = build_call(principal, names, tool.clone(), arguments);
        let running = tasks.spawn(Box::pin(async move { invoker.try_invoke(call, EventSender::none()).await }))?;
        match running.await.map_err(|error| refuse_internal(&error))? {
            Ok(results) => {
                identity.set_results(&results);
                let result = results.into_iter().next().ok_or_else(|| refuse_internal(&"the call has no result"))?;
                Ok(render_result(result, tool.effect))
            }
            // Other refusals have headers of their own, such as `retry-after`.
            Err(Refusal { error: error @ runner::Error::InvalidInput { .. }, .. }) => {
                let refused = library_refusal(&error).ok_or_else(|| refuse_internal(&error))?;
                Ok(respond_with_failure(refused))
            }
            Err(refusal) => Err(refusal.error.into()),
        }
    }
}

fn render_result(result: RunResult, effect: ToolEffect) -> Response {
    match result.outcome {
        Outcome::Succeeded { output } if effect == ToolEffect::Adds => {
            respond_with_success(StatusCode::CREATED, output)
        }
        Outcome::Succeeded { output } => respond_with_success(StatusCode::OK, output),
        Outcome::Failed { exception_type, exception_message, .. } => {
            respond_with_failure(library_failure(&exception_type, &exception_message, None))
        }
    }
}

fn build_call(
    principal: Principal,
    names: CallerNames,
    tool: Arc<NativeTool>,
    input_parameters: Map<String, Value>,
) -> Call {
    let caller = ToolCaller { names, ..ToolCaller::direct(principal) };
    Call::new(Subject::Native(tool), caller, vec![Input::of(input_parameters)])
}

fn refuse_internal(detail: &dyn std::fmt::Display) -> Error {
    Error::Internal { detail: detail.to_string() }
}
