//! `DELETE /v1/{organization}/tool/{tool_id}`: the tool and its versions go out of use; the history stays.

use axum::extract::State;
use axum::http::StatusCode;
use registry::ToolId;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("deprecate-tool", Tag::Tools, "Deprecate a tool")
        .says("The tool and its versions go out of use at once. The history stays, and the name is free again.")
        .answers_nothing(204, "Deprecated.")
        .refuses(409, &["operation_in_progress"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
) -> Result<StatusCode, Error> {
    app.store().deprecate_tool(&principal, &tool).await?;
    Ok(StatusCode::NO_CONTENT)
}
