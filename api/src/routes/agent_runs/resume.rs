//! `POST /agents/{agent_run_id}/resume`: answers a run that waits for a person.

use agents::AgentRunService;
use api_kit::caller::Caller;
use api_kit::extract::{Body, InPath, Query};
use api_kit::openapi::OperationDoc;
use api_kit::tasks::Tasks;
use axum::extract::State;
use registry::AgentRunId;

use super::response::Response;
use super::response_time::{Answer, ResponseTime, describe_resuming};
use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    let operation = OperationDoc::new("resume-agent-run", sections::AGENTS, "Resume a run of an agent")
        .description(
            "Answers the question of a paused run, which goes on with the answer as the result of its question; approvals and forms \
            are answered by their request. Of two answers, the first one counts. The user of the run and administrators may answer; the run acts for its user all the same.",
        )
        .errors(403, &["organization_differs"])
        .errors(409, &["run_not_paused"]);
    describe_resuming(operation)
}

pub(crate) async fn handle(
    State(runs): State<AgentRunService>,
    State(tasks): State<Tasks>,
    Caller(principal): Caller,
    InPath(run): InPath<AgentRunId>,
    Query(time): Query<ResponseTime>,
    Body(Response(response)): Body<Response>,
) -> Answer {
    let resumed = async move { runs.resume(&principal, &run, response).await };
    time.respond_resumed(resumed, &tasks).await
}
