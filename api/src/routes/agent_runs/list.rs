//! `GET /v1/{organization}/agent_run`: runs of agents.

use api_kit::caller::Caller;
use api_kit::error::{Error, Problem};
use api_kit::extract::{FromQuery, OneOf, PathParameter as _, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{AgentId, AgentRunFilter, AgentRunId, AgentRunState, ListedAgentRun, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::sections;
use crate::wire::schemas;

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

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AgentRunList")]
pub(crate) struct Response {
    agent_runs: Vec<Listed>,
    /// Whether there are older ones; the next page is `before` the last run of this one.
    has_more: bool,
}

/// A run of an agent in a list.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ListedAgentRun")]
struct Listed {
    #[schemars(with = "schemas::Id")]
    agent_run_id: String,
    #[schemars(with = "schemas::Id")]
    agent_id: String,
    user_id: String,
    /// `agent`: a model calls tools; `call`: a task of an MCP client.
    kind: &'static str,
    /// `running`, `paused`, `completed`, `failed` or `cancelled`.
    status: &'static str,
    /// The first 200 characters.
    objective: String,
    iterations: u32,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[schemars(extend("format" = "date-time"))]
    completed_at: Option<String>,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-runs", sections::AGENTS, "List runs of agents")
        .description("Runs of agents, newest first. Users see their own, administrators those of all users.")
        .returns::<Response>(200, "The runs.", json!({"agent_runs": [example()], "has_more": false}))
        .errors(503, &["query_too_slow"])
}

fn example() -> Value {
    json!({
        "agent_run_id": "691f3d015c1e4d7f8a9b0c20", "agent_id": "6ab13d50a3c20f6f6e5d4c3b", "user_id": "ada", "kind": "agent",
        "status": "completed", "objective": "Find the orders of Ann.", "iterations": 2,
        "created_at": "2026-11-20T21:40:11.000Z", "completed_at": "2026-11-20T21:40:19.000Z",
    })
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Query(Request(filter)): Query<Request>,
) -> Result<Json<Response>, Error> {
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
    Ok(Json(Response { agent_runs: found.into_iter().map(Listed::from).collect(), has_more }))
}

impl From<ListedAgentRun> for Listed {
    fn from(run: ListedAgentRun) -> Self {
        Self {
            agent_run_id: run.id.into(),
            agent_id: run.agent.into(),
            user_id: run.account.user().into(),
            kind: run.kind.as_str(),
            status: run.state.as_str(),
            objective: run.objective,
            iterations: run.iterations,
            created_at: run.created_at.to_string(),
            completed_at: run.ended_at.map(|time| time.to_string()),
        }
    }
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let limit = query.integer("limit", "Runs, at most.", 1..=LIMIT_MAX, LIMIT);
        let before = "Only runs that started before this one.";
        Self(AgentRunFilter {
            state: query.one("status", "Only runs with this status.", &STATUS),
            agent: query.one("agent_id", "Only runs of this agent.", &AgentId::decoder()),
            before: query.one("before", before, &AgentRunId::decoder()),
            limit: u32::try_from(limit).unwrap_or(u32::MAX - 1),
        })
    }
}
