//! `DELETE /v1/{organization}/role/{role_name}`: a role of the organisation's own that no user has.

use axum::extract::State;
use axum::http::StatusCode;
use registry::RoleName;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(role): InPath<RoleName>,
) -> Result<StatusCode, Error> {
    app.store().delete_role(&principal.organization, &role).await?;
    Ok(StatusCode::NO_CONTENT)
}
