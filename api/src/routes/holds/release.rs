//! `POST /v1/{organization}/history_hold/{hold_id}/release`: releases a hold.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{HoldId, Store};

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("release-history-hold", Tag::HISTORY, "Release a legal hold")
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
