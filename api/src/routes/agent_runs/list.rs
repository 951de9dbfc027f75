//! `GET /v1/{organization}/agent_run`: runs of agents.

use agents::{AgentRunFilter, AgentRunState, AgentStore};
use api_kit::caller::Caller;
use api_kit::error::{Error, Problem};
use api_kit::extract::{FromQuery, OneOf, PathParameter as _, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, AgentRunId};
use serde_json::json;

use crate::sections;
use crate::wire::{AgentRunList, ListedAgentRun, listed_agent_run_example};

const LIMIT_MAX: u64 = 200;
const LIMIT: u64 = 50;

const STATUS: OneOf<AgentRunState> = OneOf(&[
    ("running", AgentRunState::Running),
    ("paused", AgentRunState::Paused),
    ("completed", AgentRunState::Completed),
    ("failed", AgentRunState::Failed),
    ("cancelled", AgentRunState::Cancelled),
]);

pub(crate) struct Request(AgentRunFilter);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-runs", sections::AGENTS, "List runs of agents")
        .description("Runs of agents, newest first. Users see their own, administrators those of all users.")
        .returns::<AgentRunList>(
            200,
            "The runs.",
            json!({"agent_runs": [listed_agent_run_example()], "has_more": false}),
        )
        .errors(503, &["query_too_slow"])
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    Query(Request(filter)): Query<Request>,
) -> Result<Json<AgentRunList>, Error> {
    if let Some(before) = &filter.before
        && store.agent_runs().get_agent_run(&principal, before).await?.is_none()
    {
        let location = vec!["query".into(), "before".into()];
        let problem = "should be the id of a run that this list has";
        return Err(Error::Invalid { problems: vec![Problem::new(location, "value_error", problem)] });
    }
    let limit = filter.limit as usize;
    let one_more = AgentRunFilter { limit: filter.limit + 1, ..filter };
    let mut found = store.agent_runs().list_agent_runs(&principal, one_more).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    Ok(Json(AgentRunList { agent_runs: found.into_iter().map(ListedAgentRun::from).collect(), has_more }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let limit = query.read_integer("limit", "Runs, at most.", 1..=LIMIT_MAX, LIMIT);
        let before = "Only runs that started before this one.";
        Self(AgentRunFilter {
            state: query.read_one("status", "Only runs with this status.", &STATUS),
            agent: query.read_one("agent_id", "Only runs of this agent.", &AgentId::decoder()),
            before: query.read_one("before", before, &AgentRunId::decoder()),
            limit: u32::try_from(limit).unwrap_or(u32::MAX - 1),
        })
    }
}
