//! `GET /v1/{organization}/agent/{agent_id}/revision`: lists the revisions of an agent, in pages.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, Page};
use serde_json::json;

use crate::sections;
use crate::wire::{AgentRevisionList, Deployment, deployment_example};

pub(crate) struct Request(Page);

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"revisions": [deployment_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-agent-revisions", sections::AGENTS, "List the revisions of an agent")
        .description("Lists the revisions without their content, newest first. The first one runs.")
        .returns::<AgentRevisionList>(200, "One page of the list.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Query(Request(page)): Query<Request>,
) -> Result<Json<AgentRevisionList>, Error> {
    let found = store.agents().list_agent_revisions(&principal, &agent, page).await?;
    Ok(Json(AgentRevisionList::new(found, Deployment::from)))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(query.read_page(1..=100, 100))
    }
}
