//! `GET /v1/{organization}/agent/{agent_id}`: one agent with its draft.

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
use crate::wire::{AgentDetail, agent_example, assignment_example, state_example};

pub(crate) fn operation() -> OperationDoc {
    let mut example = agent_example();
    let prompt = "You help customers with their orders.";
    example["draft"] = json!({"system_prompt": prompt, "tool_exposure": "full", "builtInTools": {"disabled": [], "allowedFamilies": null}, "assignments": [assignment_example()], "states": [state_example()]});
    OperationDoc::new("get-agent", sections::AGENTS, "Show an agent")
        .description("One agent with its draft. `running_revision` is the number of the revision that runs.")
        .returns::<AgentDetail>(200, "The agent.", example)
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<Json<AgentDetail>, Error> {
    let (agent, draft) = store.agents().get_agent(&principal, &agent).await?.ok_or(Error::NotFound)?;
    Ok(Json(AgentDetail { agent: agent.into(), draft: draft.into() }))
}
