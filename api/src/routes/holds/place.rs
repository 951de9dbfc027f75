//! `POST /v1/{organization}/history_hold`: places a hold.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody, PathParameter as _};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::{HOLD_REASON, TIME};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{HeldRuns, HoldReason, Store, ToolId};
use serde_json::{Value, json};

use crate::sections;
use crate::wire::{Hold, hold_example};

pub(crate) struct Request {
    reason: HoldReason,
    runs: HeldRuns,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("place-history-hold", sections::HISTORY, "Place a legal hold")
        .description(
            "Keeps runs in the history that the server would delete because of their age: all runs of the organisation, or \
            those of a tool, from a time on, or before a time. The hold and its recordings of runs stay until the hold is \
            released. It cannot be changed.",
        )
        .returns::<Hold>(201, "The hold.", hold_example())
        .errors(400, &["too_many"])
        .errors(404, &["not_found"])
        .links_to("release-history-hold", "hold_id", "/hold_id")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    Body(Request { reason, runs }): Body<Request>,
) -> Result<(StatusCode, Json<Hold>), Error> {
    let hold = store.history().place_hold(&principal, reason, runs).await?;
    Ok((StatusCode::CREATED, Json(hold.into())))
}

impl FromBody for Request {
    const NAME: &'static str = "PlaceHold";

    fn example() -> Value {
        json!({"reason": "case 2026-117", "started_before": "2026-11-20T00:00:00Z"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let reason = fields.read_required("reason", HOLD_REASON);
        let tool = fields.read_optional("tool_id", ToolId::decoder());
        let started_from = fields.read_optional("started_from", TIME);
        let started_before = fields.read_optional("started_before", TIME);
        Some(Self { reason: reason?, runs: HeldRuns { tool, started_from, started_before } })
    }
}
