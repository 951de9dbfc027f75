//! `DELETE /v1/{organization}/tool/{tool_id}/version/{constraint}`: deprecates the matching versions.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Constraint, Store, ToolId};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("deprecate-tool-version", sections::VERSIONS, "Deprecate versions")
        .description(
            "Deprecates all live versions that the constraint admits, at once. The response is 404 when there are \
            none.",
        )
        .returns_nothing(204, "Deprecated.")
        .errors(409, &["operation_in_progress"])
}

/// A constraint without a match is not found, so that a typing error does not look like a success.
pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(constraint): InPath<Constraint>,
) -> Result<StatusCode, Error> {
    match store.versions().deprecate_versions(&principal, &tool, &constraint).await? {
        0 => Err(Error::NotFound),
        _ => Ok(StatusCode::NO_CONTENT),
    }
}
