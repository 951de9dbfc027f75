//! `GET /v1/{organization}/history_hold`: all holds, newest first.

use axum::Json;
use axum::extract::State;
use registry::Store;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::auth::Caller;
use crate::error::Error;
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{Hold, hold_example};

/// All holds, also those that are released.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HoldList")]
pub(crate) struct Response {
    holds: Vec<Hold>,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-history-holds", Tag::History, "List legal holds")
        .description("All legal holds of the organisation, newest first. The list includes released holds.")
        .returns::<Response>(200, "All holds.", json!({"holds": [hold_example()]}))
}

pub(crate) async fn handle(State(store): State<Store>, Caller(principal): Caller) -> Result<Json<Response>, Error> {
    let holds = store.list_holds(&principal.organization).await?;
    Ok(Json(Response { holds: holds.into_iter().map(Hold::from).collect() }))
}
