//! `GET /v1/{organization}/role`: the built-in roles, then the custom roles by name.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::Store;
use serde_json::json;

use crate::sections;
use crate::wire::{Role, RoleList, role_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-roles", sections::IDENTITY, "List roles")
        .description("The built-in roles, then the custom roles by name.")
        .returns::<RoleList>(200, "All roles.", json!({"roles": [role_example()]}))
}

pub(crate) async fn handle(State(store): State<Store>, Caller(principal): Caller) -> Result<Json<RoleList>, Error> {
    let roles = store.access().list_roles(&principal.organization).await?;
    Ok(Json(RoleList { roles: roles.into_iter().map(Role::from).collect() }))
}
