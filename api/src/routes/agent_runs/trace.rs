//! `GET /agents/{agent_run_id}/trace`: the steps of a run of an agent.

use agents::{AgentRunService, MILESTONE_CHARACTERS_MAX, StepFilter};
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{FromQuery, InPath, Query, QueryParameters, Text};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::TIME;
use axum::Json;
use axum::extract::State;
use registry::AgentRunId;
use serde_json::json;

use crate::sections;
use crate::wire::{AgentRunStep, AgentRunTrace, agent_run_step_example};

const MILESTONE: Text<String> = Text::new(
    || json!({"type": "string", "maxLength": MILESTONE_CHARACTERS_MAX, "pattern": r"^[^\u0000]*$"}),
    |text| match text.chars().count() <= MILESTONE_CHARACTERS_MAX && !text.contains('\0') {
        true => Ok(text.to_owned()),
        false => Err(format!("should have at most {MILESTONE_CHARACTERS_MAX} characters, and no NUL")),
    },
);

pub(crate) struct Request(StepFilter);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-agent-run-trace", sections::AGENTS, "List the steps of a run of an agent")
        .description(
            "What the model thought and called, and what came of it, up to 1,000 steps or 8 MiB, the first ones first. Long \
            observations are cut here; the record of the call has all of it.",
        )
        .returns::<AgentRunTrace>(200, "The steps.", json!({"trace": [agent_run_step_example()], "has_more": false}))
        .errors(403, &["organization_differs"])
}

pub(crate) async fn handle(
    State(runs): State<AgentRunService>,
    Caller(principal): Caller,
    InPath(run): InPath<AgentRunId>,
    Query(Request(filter)): Query<Request>,
) -> Result<Json<AgentRunTrace>, Error> {
    let (run, _) = runs.find(&principal, &run).await?.ok_or(Error::NotFound)?;
    let (steps, has_more) = runs.steps(&run, filter).await?;
    Ok(Json(AgentRunTrace { trace: steps.into_iter().map(AgentRunStep::from).collect(), has_more }))
}

impl FromQuery for Request {
    fn from_query(query: &mut QueryParameters) -> Self {
        Self(StepFilter {
            milestone: query.read_one("milestone", "Only steps that recorded this milestone.", &MILESTONE),
            since: query.read_one("since", "Only steps at this time or later.", &TIME),
            until: query.read_one("until", "Only steps at this time or before.", &TIME),
        })
    }
}
