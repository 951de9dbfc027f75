//! `DELETE /v1/{organization}/tool/{tool_id}/version/{constraint}`: the matching versions go out of use.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{Constraint, ToolId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;

/// No match is not found, so that a mistyped constraint does not look like success.
pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(constraint): InPath<Constraint>,
) -> Result<StatusCode, Error> {
    match app.store().deprecate_versions(&principal, &tool, &constraint).await? {
        0 => Err(Error::NotFound),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}
