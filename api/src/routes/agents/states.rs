//! `GET /v1/{organization}/agent/{agent_id}/state`: the states of a draft.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::AgentId;
use serde_json::json;

use crate::sections;
use crate::wire::{AgentState, AgentStateList, state_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-states", sections::AGENTS, "List the states of an agent")
        .description("The states of the draft, in the order of their names.")
        .returns::<AgentStateList>(200, "All states.", json!({"states": [state_example()]}))
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<Json<AgentStateList>, Error> {
    let (_, draft) = store.agents().get_agent(&principal, &agent).await?.ok_or(Error::NotFound)?;
    Ok(Json(AgentStateList { states: draft.states.into_iter().map(AgentState::from).collect() }))
}
