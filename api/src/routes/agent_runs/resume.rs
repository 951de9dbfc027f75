//! `POST /agents/{agent_run_id}/resume`: answers a run that waits for a person.

use axum::extract::State;
use registry::AgentRunId;
use runner::{Begun, Invoker};

use super::response::Response;
use super::response_time::{Answer, ResponseTime};
use super::wire::AgentRunStatus;
use crate::auth::Caller;
use crate::extract::{Body, InPath, Query};
use crate::openapi::{OperationDoc, Tag};
use crate::tasks::Tasks;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("resume-agent-run", Tag::Agents, "Resume a run of an agent")
        .description(
            "Answers the question of a paused run (approvals and forms are answered by their request), which goes on with the answer as the result of its question. Of two answers, \
            the first one counts. The user of the run and administrators may answer; the run acts for its user all the same.",
        )
        .returns::<AgentRunStatus>(200, "The run has ended, or waits for a person again.", AgentRunStatus::example())
        .returns::<AgentRunStatus>(202, "With `async=true`, or when the server stops meanwhile: the run goes on.", AgentRunStatus::example())
        .errors(400, &["human_response"])
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
    Query(time): Query<ResponseTime>,
    Body(Response(response)): Body<Response>,
) -> Answer {
    let begin = async move {
        let resumed = invoker.resume_agent_run(&principal, &run, response).await?;
        Ok(resumed.map(|work| Begun::Work(Box::new(work))))
    };
    time.respond(begin, &tasks).await
}
