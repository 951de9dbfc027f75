//! `GET /v1/{organization}/role`: the built-in roles, then the custom roles by name.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::Store;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::sections;
use crate::wire::{Role, role_example};

/// The built-in roles, and the custom ones of the organisation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RoleList")]
pub(crate) struct Response {
    #[schemars(length(max = 128))]
    roles: Vec<Role>,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-roles", sections::IDENTITY, "List roles")
        .description("The built-in roles, then the custom roles by name.")
        .returns::<Response>(200, "All roles.", json!({"roles": [role_example()]}))
}

pub(crate) async fn handle(State(store): State<Store>, Caller(principal): Caller) -> Result<Json<Response>, Error> {
    let roles = store.access().list_roles(&principal.organization).await?;
    Ok(Json(Response { roles: roles.into_iter().map(Role::from).collect() }))
}
