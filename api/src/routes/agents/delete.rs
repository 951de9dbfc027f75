//! `DELETE /v1/{organization}/agent/{agent_id}`: deletes an agent.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::AgentId;

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("delete-agent", sections::AGENTS, "Delete an agent")
        .description(
            "Deletes the agent, which cannot be restored. Its slug can be used again. Its revisions stay in the database, \
            and no request returns them.",
        )
        .returns_nothing(204, "Deleted.")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<StatusCode, Error> {
    store.agents().delete_agent(&principal, &agent).await?;
    Ok(StatusCode::NO_CONTENT)
}
