//! `DELETE /v1/{organization}/role/{role_name}`: a role of the organisation's own that no user has.

use axum::extract::State;
use axum::http::StatusCode;
use registry::RoleName;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("delete-role", Tag::Identity, "Delete a role")
        .says("A role of the organisation's own that no user has.")
        .answers_nothing(204, "Deleted.")
        .refuses(400, &["role_built_in"])
        .refuses(409, &["role_in_use"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(role): InPath<RoleName>,
) -> Result<StatusCode, Error> {
    app.store().delete_role(&principal.organization, &role).await?;
    Ok(StatusCode::NO_CONTENT)
}
