//! Is the process alive, and would it take a request?

use axum::Json;
use axum::extract::State;
use registry::OrganizationId;
use serde::Serialize;

use crate::app::App;
use crate::error::Error;

#[derive(Serialize)]
pub(crate) struct Response {
    status: &'static str,
}

/// Alive as long as it answers.
pub(crate) async fn live() -> Json<Response> {
    Json(Response { status: "live" })
}

/// Ready while the database answers and no shutdown has begun.
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<Response>, Error> {
    if app.is_stopping() {
        return Err(Error::ShuttingDown);
    }
    app.store().organization_exists(&probe()?).await?;
    Ok(Json(Response { status: "ready" }))
}

/// Some organisation; whether it exists does not matter, only that the database can tell.
fn probe() -> Result<OrganizationId, Error> {
    OrganizationId::parse("probe").map_err(|error| Error::Internal { detail: error.to_string() })
}
