//! `GET /v1/{organization}/role`: the roles that are built in, then the organisation's own by name.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::wire::{self, RoleInstance};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::openapi::{Operation, Tag};

/// All of them: there are at most some hundred.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RoleList")]
pub(crate) struct Response {
    roles: Vec<RoleInstance>,
}

pub(crate) fn operation() -> Operation {
    Operation::new("get-roles", Tag::Identity, "List roles")
        .says("The roles that are built in, then the organisation's own by name.")
        .answers::<Response>(200, "All of them.", json!({"roles": [wire::example()]}))
}

pub(crate) async fn handle(State(app): State<App>, Caller(principal): Caller) -> Result<Json<Response>, Error> {
    let roles = app.store().list_roles(&principal.organization).await?;
    Ok(Json(Response { roles: roles.into_iter().map(RoleInstance::from).collect() }))
}
