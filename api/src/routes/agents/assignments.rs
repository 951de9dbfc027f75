//! `GET /v1/{organization}/agent/{agent_id}/assignment`: the assignments of a draft.

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
use crate::wire::{Assignment, AssignmentList, assignment_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-assignments", sections::AGENTS, "List the assignments of an agent")
        .description("The assignments of the draft, in the order of the tools' ids.")
        .returns::<AssignmentList>(200, "All assignments.", json!({"assignments": [assignment_example()]}))
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<Json<AssignmentList>, Error> {
    let (_, draft) = store.agents().get_agent(&principal, &agent).await?.ok_or(Error::NotFound)?;
    Ok(Json(AssignmentList { assignments: draft.assignments.into_iter().map(Assignment::from).collect() }))
}
