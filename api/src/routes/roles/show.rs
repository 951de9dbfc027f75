//! `GET /v1/{organization}/role/{role_name}`: one role with its grants.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{RoleName, Store};

use crate::sections;
use crate::wire::{Role, role_example};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-role", sections::IDENTITY, "Show a role")
        .description("One role with its grants.")
        .returns::<Role>(200, "The role.", role_example())
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(role): InPath<RoleName>,
) -> Result<Json<Role>, Error> {
    let found = store.access().get_role(&principal.organization, &role).await?;
    Ok(Json(found.ok_or(Error::NotFound)?.into()))
}
