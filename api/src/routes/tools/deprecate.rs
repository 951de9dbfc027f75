//! `DELETE /v1/{organization}/tool/{tool_id}`: deprecates a tool and its versions; the history stays.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Store, ToolId};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("deprecate-tool", sections::TOOLS, "Deprecate a tool")
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
