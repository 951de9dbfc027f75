//! `GET /v1/{organization}/role/{role_name}`: one role with its grants.

use axum::Json;
use axum::extract::State;
use registry::RoleName;

use super::wire::{self, RoleInstance};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("get-role", Tag::Identity, "Show a role").says("One role with its grants.").answers::<RoleInstance>(
        200,
        "The role.",
        wire::example(),
    )
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(role): InPath<RoleName>,
) -> Result<Json<RoleInstance>, Error> {
    let found = app.store().get_role(&principal.organization, &role).await?;
    Ok(Json(found.ok_or(Error::NotFound)?.into()))
}
