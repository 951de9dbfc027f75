//! `POST /v1/{organization}/human_request/{human_request_id}/answer`: answers a request, and lets its run go on.

use axum::extract::State;
use registry::HumanRequestId;
use runner::{Begun, Invoker};

use crate::auth::Caller;
use crate::extract::{Body, InPath, Query};
use crate::openapi::{OperationDoc, Tag};
use crate::routes::agent_runs::{AgentRunStatus, Answer, Response, ResponseTime};
use crate::tasks::Tasks;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("answer-human-request", Tag::Agents, "Answer a request to a person")
        .description(
            "Answers an open request; the first answer counts. A question takes `human_input`, `approved` or both, an approval \
            `approved`, a form the values of all `forms`, or `approved: false`. The run goes on, for its user, whoever answers.",
        )
        .returns::<AgentRunStatus>(200, "The run has ended, or waits for a person again.", AgentRunStatus::example())
        .returns::<AgentRunStatus>(202, "With `async=true`, or when the server stops meanwhile: the run goes on.", AgentRunStatus::example())
        .errors(400, &["human_response"])
        .errors(409, &["human_request_closed"])
        .errors(429, &["too_many_runs"])
        .errors(503, &["model_missing", "overloaded"])
        .links_to("get-agent-run", "agent_run_id", "/agent_run_id")
}

pub(crate) async fn handle(
    State(invoker): State<Invoker>,
    State(tasks): State<Tasks>,
    Caller(principal): Caller,
    InPath(request): InPath<HumanRequestId>,
    Query(time): Query<ResponseTime>,
    Body(Response(response)): Body<Response>,
) -> Answer {
    let begin = async move {
        let resumed = invoker.answer_human_request(&principal, &request, response).await?;
        Ok(resumed.map(|work| Begun::Work(Box::new(work))))
    };
    time.respond(begin, &tasks).await
}
