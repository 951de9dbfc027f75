//! `DELETE /v1/{organization}/tool/{tool_id}/version/{constraint}`: the matching versions go out of use.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{Constraint, ToolId};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("deprecate-tool-version", Tag::Versions, "Deprecate versions")
        .says("All live versions that the constraint admits go out of use at once. When there are none, 404.")
        .answers_nothing(204, "Deprecated.")
        .refuses(409, &["operation_in_progress"])
}

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
