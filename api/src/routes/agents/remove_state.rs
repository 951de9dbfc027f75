//! `DELETE /v1/{organization}/agent/{agent_id}/state/{state_name}`: removes a state from the draft.

use agents::{AgentStore, StateName};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::AgentId;

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("remove-agent-state", sections::AGENTS, "Remove a state from an agent")
        .description("Removes the state from the draft. The running revision stays as it is until the next deployment.")
        .returns_nothing(204, "Removed.")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    InPath(state): InPath<StateName>,
) -> Result<StatusCode, Error> {
    store.agents().remove_agent_state(&principal, &agent, &state).await?;
    Ok(StatusCode::NO_CONTENT)
}
