//! `GET /v1/{organization}/role`: the roles that are built in, then the organisation's own by name.

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::wire::RoleInstance;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;

/// All of them: there are at most some hundred.
#[derive(Serialize)]
pub(crate) struct Response {
    roles: Vec<RoleInstance>,
}

pub(crate) async fn handle(State(app): State<App>, Caller(principal): Caller) -> Result<Json<Response>, Error> {
    let roles = app.store().list_roles(&principal.organization).await?;
    Ok(Json(Response { roles: roles.into_iter().map(RoleInstance::from).collect() }))
}
