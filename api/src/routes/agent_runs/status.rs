//! `GET /agents/{agent_run_id}/status`: a run of an agent.

use agents::{AgentRunService, StepFilter};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, Query, QueryParameters};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::AgentRunId;

use crate::sections;
use crate::wire::{AgentRun, agent_run_example};

pub(crate) struct Request {
    include_trace: bool,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-run", sections::AGENTS, "Show a run of an agent")
        .description("A run of the caller. Administrators see the runs of all users.")
        .returns::<AgentRun>(200, "The run.", agent_run_example())
        .errors(403, &["organization_differs"])
        .links_to("resume-agent-run", "agent_run_id", "/agent_run_id")
        .links_to("cancel-agent-run", "agent_run_id", "/agent_run_id")
}

pub(crate) async fn handle(
    State(runs): State<AgentRunService>,
    Caller(principal): Caller,
    InPath(run): InPath<AgentRunId>,
    Query(Request { include_trace }): Query<Request>,
) -> Result<Json<AgentRun>, Error> {
    let (run, progress) = runs.find(&principal, &run).await?.ok_or(Error::NotFound)?;
    let steps = match include_trace {
        true => Some(runs.steps(&run, StepFilter::default()).await?.0),
        false => None,
    };
    let status = AgentRun::of(run, progress);
    Ok(Json(match steps {
        Some(steps) => status.with(steps),
        None => status,
    }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        let text = "Whether the response has the steps, too; false by default.";
        Self { include_trace: query.read_boolean("include_trace", text).unwrap_or_default() }
    }
}
