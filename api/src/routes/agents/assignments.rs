//! `GET /v1/{organization}/agent/{agent_id}/assignment`: the assignments of a draft.

use axum::Json;
use axum::extract::State;
use registry::{AgentId, Store};
use serde_json::json;

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{Assignment, AssignmentList, assignment_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-assignments", Tag::AGENTS, "List the assignments of an agent")
        .description("The assignments of the draft, in the order of the tools' ids.")
        .returns::<AssignmentList>(200, "All assignments.", json!({"assignments": [assignment_example()]}))
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
) -> Result<Json<AssignmentList>, Error> {
    let (_, draft) = store.agents().get_agent(&principal, &agent).await?.ok_or(Error::NotFound)?;
    Ok(Json(AssignmentList { assignments: draft.assignments.into_iter().map(Assignment::from).collect() }))
}
