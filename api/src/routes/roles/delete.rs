//! `DELETE /v1/{organization}/role/{role_name}`: deletes a custom role that no user has.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{RoleName, Store};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("delete-role", sections::IDENTITY, "Delete a role")
        .description("Deletes a custom role that no user has.")
        .returns_nothing(204, "Deleted.")
        .errors(400, &["role_built_in"])
        .errors(409, &["role_in_use"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(role): InPath<RoleName>,
) -> Result<StatusCode, Error> {
    store.access().delete_role(&principal.organization, &role).await?;
    Ok(StatusCode::NO_CONTENT)
}
