//! `GET /v1/{organization}/agent/{agent_id}/revision`: lists the revisions of an agent, in pages.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, Page, Slice, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::sections;
use crate::wire::{Deployment, deployment_example};

pub(crate) struct Request(Page);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentRevisionList")]
pub(crate) struct Response {
    revisions: Vec<Deployment>,
    has_more: bool,
    continuation_token: Option<u64>,
}

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"revisions": [deployment_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-agent-revisions", sections::AGENTS, "List the revisions of an agent")
        .description("Lists the revisions without their content, newest first. The first one runs.")
        .returns::<Response>(200, "One page of the list.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(agent): InPath<AgentId>,
    Query(Request(page)): Query<Request>,
) -> Result<Json<Response>, Error> {
    let Slice { items, next } = store.agents().list_agent_revisions(&principal, &agent, page).await?;
    let revisions = items.into_iter().map(Deployment::from).collect();
    Ok(Json(Response { revisions, has_more: next.is_some(), continuation_token: next }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(query.page(1..=100, 100))
    }
}
