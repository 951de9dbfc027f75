//! `POST /agents/{agent_run_id}/resume`: answers a run that waits for a person.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{AgentRunId, InvalidValue};
use runner::{AgentRunWork, HumanResponse, Invoker};
use serde_json::{Value, json};

use super::wire::AgentRunStatus;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, Boolean, Decoder as _, Fields, FromBody, InPath, Query, Text};
use crate::openapi::{OperationDoc, Tag};
use crate::tasks::Tasks;

const INPUT_BYTES_MAX: usize = 64 << 10;

const INPUT: Text<String> = Text::new(
    || json!({"type": "string", "maxLength": INPUT_BYTES_MAX, "x-bytes-max": INPUT_BYTES_MAX}),
    |text| match text.len() > INPUT_BYTES_MAX {
        true => Err(format!("should have at most {INPUT_BYTES_MAX} bytes")),
        false => Ok(text.to_owned()),
    },
);

pub(crate) struct Request(HumanResponse);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("resume-agent-run", Tag::Agents, "Resume a run of an agent")
        .description(
            "Answers the question of a paused run, which goes on with the answer as the result of its question. Of two answers, \
            the first one counts. The user of the run and administrators may answer; the run acts for its user all the same.",
        )
        .returns::<AgentRunStatus>(200, "The run has ended, or waits for a person again.", AgentRunStatus::example())
        .returns::<AgentRunStatus>(202, "With `async=true`: the run goes on.", AgentRunStatus::example())
        .errors(403, &["organization_differs"])
        .errors(409, &["run_not_paused"])
        .errors(429, &["too_many_runs"])
        .errors(503, &["model_missing", "overloaded"])
        .links_to("get-agent-run", "agent_run_id", "/agent_run_id")
}

pub(crate) async fn handle(
    State(invoker): State<Invoker>,
    State(tasks): State<Tasks>,
    Caller(principal): Caller,
    InPath(run): InPath<AgentRunId>,
    Query(mode): Query<super::execute::Mode>,
    Body(Request(response)): Body<Request>,
) -> Result<(StatusCode, Json<AgentRunStatus>), Error> {
    let work = invoker.resume_agent_run(&principal, &run, response).await?.ok_or(Error::NotFound)?;
    respond(work, &tasks, mode.is_async).await
}

/// Works on a run in a task of its own, and responds at its end, or at once.
pub(super) async fn respond(
    work: AgentRunWork,
    tasks: &Tasks,
    is_async: bool,
) -> Result<(StatusCode, Json<AgentRunStatus>), Error> {
    let (run, progress) = work.run();
    let begun = AgentRunStatus::of(run.clone(), progress.clone());
    let working = tasks.spawn(work.to_its_end())?;
    if is_async {
        return Ok((StatusCode::ACCEPTED, Json(begun)));
    }
    let ended = working.await.map_err(|error| Error::Internal { detail: format!("a run of an agent: {error}") })?;
    let (run, progress) = ended?;
    Ok((StatusCode::OK, Json(AgentRunStatus::of(run, progress))))
}

impl FromBody for Request {
    const NAME: &'static str = "ResumeAgentRun";

    fn example() -> Value {
        json!({"human_input": "Use the customer C-001.", "approved": true})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let human_input = fields.optional("human_input", INPUT.described("What the person answers."));
        let approved = fields.optional("approved", Boolean.described("Whether the person agrees."));
        if human_input.is_none() && approved.is_none() {
            return fields.checked(Err(InvalidValue::new("answer", "should have human_input or approved")));
        }
        Some(Self(HumanResponse { human_input, approved }))
    }
}
