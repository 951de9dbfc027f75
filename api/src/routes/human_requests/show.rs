//! `GET /v1/{organization}/human_request/{human_request_id}`: one request to a person.

use agents::AgentStore;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::HumanRequestId;

use crate::sections;
use crate::wire::{HumanRequest, human_request_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-human-request", sections::AGENTS, "Get a request to a person")
        .description("The request, with its answer if there is one.")
        .returns::<HumanRequest>(200, "The request.", human_request_example())
        .links_to("answer-human-request", "human_request_id", "/human_request_id")
}

pub(crate) async fn handle(
    State(store): State<AgentStore>,
    Caller(principal): Caller,
    InPath(request): InPath<HumanRequestId>,
) -> Result<Json<HumanRequest>, Error> {
    let found = store.agent_runs().get_human_request(&principal, &request).await?.ok_or(Error::NotFound)?;
    Ok(Json(HumanRequest::try_from(found)?))
}
