//! `GET /v1/{organization}/role`: the built-in roles, then the custom roles by name.

use axum::Json;
use axum::extract::State;
use registry::Store;
use serde_json::json;

use crate::caller::Caller;
use crate::error::Error;
use crate::openapi::{OperationDoc, Tag};
use crate::wire::{Role, RoleList, role_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-roles", Tag::IDENTITY, "List roles")
        .description("The built-in roles, then the custom roles by name.")
        .returns::<RoleList>(200, "All roles.", json!({"roles": [role_example()]}))
}

pub(crate) async fn handle(State(store): State<Store>, Caller(principal): Caller) -> Result<Json<RoleList>, Error> {
    let roles = store.access().list_roles(&principal.organization).await?;
    Ok(Json(RoleList { roles: roles.into_iter().map(Role::from).collect() }))
}
