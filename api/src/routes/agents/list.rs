//! `GET /v1/{organization}/agent`: lists agents, filtered and in pages.

use agents::{AgentFilter, AgentSort, AgentStore};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, PathParameter as _, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, Page};
use serde_json::json;

use super::fields::{AGENT_TYPE, SLUG};
use crate::routes::sorting::SortKey;
use crate::sections;
use crate::wire::{Agent, AgentList, agent_example};

const SORT_BY: SortKey<AgentSort> = SortKey(&[("name", AgentSort::Name), ("created_at", AgentSort::CreatedAt)]);

pub(crate) struct Request {
    filter: AgentFilter,
    page: Page,
}

pub(crate) fn operation() -> OperationDoc {
    let example = json!({"agents": [agent_example()], "has_more": false, "continuation_token": null});
    OperationDoc::new("get-agents", sections::AGENTS, "List agents")
        .description(
            "Lists the agents that the caller sees, without their drafts, newest first unless `sort_by` gives another order. \
            An agent that is renamed while its list is read by name can be on two pages, or on none.",
        )
        .returns::<AgentList>(200, "One page of the list.", example)
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    Query(Request { filter, page }): Query<Request>,
) -> Result<Json<AgentList>, Error> {
    let found = store.agents().list_agents(&principal, &filter, page).await?;
    Ok(Json(AgentList::new(found, Agent::from)))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let filter = AgentFilter {
            ids: query.read_distinct("id", "Only the agents with these ids.", &AgentId::decoder()),
            agent_types: query.read_distinct("agent_type", "Only agents of these types.", &AGENT_TYPE),
            slugs: query.read_distinct("slug", "Only the agents with these slugs.", &SLUG),
            sort: query.read_many("sort_by", "`+name` or `-created_at`; the first key takes precedence.", &SORT_BY),
        };
        Self { filter, page: query.read_page(1..=20, 10) }
    }
}
