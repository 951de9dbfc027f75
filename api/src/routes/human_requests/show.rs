//! `GET /v1/{organization}/human_request/{human_request_id}`: one request to a person.

use axum::Json;
use axum::extract::State;
use registry::{HumanRequestId, Store};

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{HumanRequest, human_request_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-human-request", Tag::AGENTS, "Get a request to a person")
        .description("The request, with its answer if there is one.")
        .returns::<HumanRequest>(200, "The request.", human_request_example())
        .links_to("answer-human-request", "human_request_id", "/human_request_id")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(request): InPath<HumanRequestId>,
) -> Result<Json<HumanRequest>, Error> {
    let found = store.agent_runs().get_human_request(&principal, &request).await?.ok_or(Error::NotFound)?;
    Ok(Json(HumanRequest::try_from(found)?))
}
