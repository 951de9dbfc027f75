//! `DELETE /v1/{organization}/agent/{agent_id}/assignment/{tool_id}`: removes a tool from the draft.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{AgentId, ToolId};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("unassign-tool", sections::AGENTS, "Remove a tool from an agent")
        .description(
            "Removes the assignment of the tool from the draft. The running revision stays as it is until the next deployment.",
        )
        .returns_nothing(204, "Removed.")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    InPath(tool): InPath<ToolId>,
) -> Result<StatusCode, Error> {
    store.agents().unassign_tool(&principal, &agent, &tool).await?;
    Ok(StatusCode::NO_CONTENT)
}
