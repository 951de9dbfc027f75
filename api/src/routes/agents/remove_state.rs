//! `DELETE /v1/{organization}/agent/{agent_id}/state/{state_name}`: removes a state from the draft.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{AgentId, StateName, Store};

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("remove-agent-state", Tag::AGENTS, "Remove a state from an agent")
        .description("Removes the state from the draft. The running revision stays as it is until the next deployment.")
        .returns_nothing(204, "Removed.")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    InPath(state): InPath<StateName>,
) -> Result<StatusCode, Error> {
    store.agents().remove_agent_state(&principal, &agent, &state).await?;
    Ok(StatusCode::NO_CONTENT)
}
