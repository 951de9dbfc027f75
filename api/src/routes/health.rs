//! Liveness and readiness of the server.

use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{Clock, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::readiness::Readiness;
use crate::sections;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health")]
pub(crate) struct Response {
    status: &'static str,
}

pub(crate) fn live_operation() -> OperationDoc {
    OperationDoc::new("is-live", sections::SERVICE, "Check liveness")
        .description("Responds while the process runs. Nothing else is checked.")
        .returns::<Response>(200, "The process runs.", json!({"status": "live"}))
}

pub(crate) fn ready_operation() -> OperationDoc {
    OperationDoc::new("is-ready", sections::SERVICE, "Check readiness")
        .description(
            "The server is ready while every part works, the database accepts writes, and no shutdown has begun.",
        )
        .returns::<Response>(200, "The server is ready.", json!({"status": "ready"}))
        .errors(503, &["not_ready", "shutting_down"])
}

pub(crate) async fn live() -> Json<Response> {
    Json(Response { status: "live" })
}

pub(crate) async fn ready(
    State(readiness): State<Readiness>,
    State(store): State<Store>,
    State(clock): State<Clock>,
) -> Result<Json<Response>, Error> {
    readiness.check(&store, &clock).await?;
    Ok(Json(Response { status: "ready" }))
}
