//! `POST /v1/{organization}/tool/invocation/{invocation_id}/cancel`: cancels a run that is in progress.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{RunId, Store};
use runner::Invoker;

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("cancel-tool-invocation", sections::HISTORY, "Cancel a run")
        .description(
            "Stops a run that is in progress. It fails with the type `cancelled`, and its message names the user who \
            cancelled it. The other runs of the same call go on.",
        )
        .returns_nothing(204, "Cancelled.")
        .errors(409, &["run_ended"])
}

pub(crate) async fn handle(
    State(invoker): State<Invoker>,
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(run): InPath<RunId>,
) -> Result<StatusCode, Error> {
    if invoker.cancel(&principal, &run) || store.operations().request_cancellation(&principal, &run).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    let found = store.history().get_invocation(&principal.organization, &run).await?;
    Err(if found.is_some() { Error::RunEnded } else { Error::NotFound })
}
