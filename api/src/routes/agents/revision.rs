//! `GET /v1/{organization}/agent/{agent_id}/revision/{number}`: one revision with its content.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, RevisionNumber};
use serde_json::{Value, json};

use crate::sections;
use crate::wire::{AgentRevision, assignment_example, deployment_example, state_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-revision", sections::AGENTS, "Show a revision of an agent")
        .description("One revision, as it was deployed.")
        .returns::<AgentRevision>(200, "The revision.", example())
}

pub(super) fn example() -> Value {
    let mut example = deployment_example();
    example["system_prompt"] = json!("You help customers with their orders.");
    example["tool_exposure"] = json!("full");
    example["builtInTools"] = json!({"disabled": [], "allowedFamilies": null});
    example["warnings"] = json!([]);
    example["assignments"] = json!([assignment_example()]);
    example["states"] = json!([state_example()]);
    example
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    InPath(number): InPath<RevisionNumber>,
) -> Result<Json<AgentRevision>, Error> {
    let revision = store.agents().get_agent_revision(&principal, &agent, number).await?.ok_or(Error::NotFound)?;
    Ok(Json(revision.into()))
}
