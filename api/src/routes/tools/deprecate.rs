//! `DELETE /v1/{organization}/tool/{tool_id}`: deprecates a tool and its versions; the history stays.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{Store, ToolId};

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("deprecate-tool", Tag::TOOLS, "Deprecate a tool")
        .description("Deprecates the tool and its versions at once. The history stays, and the name can be used again.")
        .returns_nothing(204, "Deprecated.")
        .errors(409, &["operation_in_progress"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
) -> Result<StatusCode, Error> {
    store.tools().deprecate_tool(&principal, &tool).await?;
    Ok(StatusCode::NO_CONTENT)
}
