//! `POST /v1/{organization}/history_hold/{hold_id}/release`: releases a hold.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{HoldId, Store};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("release-history-hold", sections::HISTORY, "Release a legal hold")
        .description(
            "Releases a hold. The next hourly deletion removes the runs whose time is over and that no other hold keeps. \
            The hold stays in the list with the user and the time of its release. Another release changes nothing.",
        )
        .returns_nothing(204, "Released.")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(hold): InPath<HoldId>,
) -> Result<StatusCode, Error> {
    store.history().release_hold(&principal, &hold).await?;
    Ok(StatusCode::NO_CONTENT)
}
