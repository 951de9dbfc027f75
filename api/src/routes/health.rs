//! Is the process alive, and would it take a request?

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::error::Error;
use crate::openapi::{Operation, Tag};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health")]
pub(crate) struct Response {
    status: &'static str,
}

pub(crate) fn live_operation() -> Operation {
    Operation::new("is-live", Tag::Service, "Is the process alive")
        .says("Answers as long as the process does; looks at nothing else.")
        .answers::<Response>(200, "It is.", json!({"status": "live"}))
}

pub(crate) fn ready_operation() -> Operation {
    Operation::new("is-ready", Tag::Service, "Would the server take a request")
        .says("Ready while every part works, the database can be written, and no shutdown has begun.")
        .answers::<Response>(200, "It would.", json!({"status": "ready"}))
        .refuses(503, &["not_ready", "shutting_down"])
}

/// Alive as long as it answers.
pub(crate) async fn live() -> Json<Response> {
    Json(Response { status: "live" })
}

/// Ready while all parts work, the database can be written, and no shutdown has begun.
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Response>, Error> {
    if app.is_stopping() {
        return Err(Error::ShuttingDown);
    }
    app.readiness().check(app.store(), app.clock()).await?;
    Ok(Json(Response { status: "ready" }))
}
