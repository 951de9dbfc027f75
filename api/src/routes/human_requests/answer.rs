//! `POST /v1/{organization}/human_request/{human_request_id}/answer`: answers a request, and lets its run go on.

use agents::AgentRunService;
use api_kit::caller::Caller;
use api_kit::extract::{Body, InPath, Query};
use api_kit::openapi::OperationDoc;
use api_kit::tasks::Tasks;
use axum::extract::State;
use registry::HumanRequestId;

use crate::routes::agent_runs::{Answer, Response, ResponseTime, describe_resuming};
use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    let operation = OperationDoc::new("answer-human-request", sections::AGENTS, "Answer a request to a person")
        .description(
            "Answers an open request; the first answer counts. A question takes `human_input`, `approved` or both, an approval \
            `approved`, a form the values of all `forms`, or `approved: false`. The run goes on, for its user, whoever answers.",
        )
        .errors(409, &["human_request_closed"]);
    describe_resuming(operation)
}

pub(crate) async fn handle(
    State(runs): State<AgentRunService>,
    State(tasks): State<Tasks>,
    Caller(principal): Caller,
    InPath(request): InPath<HumanRequestId>,
    Query(time): Query<ResponseTime>,
    Body(Response(response)): Body<Response>,
) -> Answer {
    let resumed = async move { runs.answer_human_request(&principal, &request, response).await };
    time.respond_resumed(resumed, &tasks).await
}
