//! `POST /agents/{agent_run_id}/cancel`: cancels a run of an agent.

use agents::AgentRunService;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::AgentRunId;

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("cancel-agent-run", sections::AGENTS, "Cancel a run of an agent")
        .description(
            "Ends a run that goes on or is paused. A call of a tool in progress is cancelled, too; another server than that of the \
            run lets the call end first.",
        )
        .returns_nothing(204, "Cancelled.")
        .errors(403, &["organization_differs"])
        .errors(409, &["run_ended"])
}

pub(crate) async fn handle(
    State(runs): State<AgentRunService>,
    Caller(principal): Caller,
    InPath(run): InPath<AgentRunId>,
) -> Result<StatusCode, Error> {
    match runs.cancel(&principal, &run).await?.ok_or(Error::NotFound)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Error::RunEnded),
    }
}
