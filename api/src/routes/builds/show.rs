//! `GET /v1/{organization}/tool/{tool_id}/build/{build_id}`: one build with its log, also a failed one.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::{BuildId, BuildReference, Store, ToolId};
use serde_json::json;

use crate::sections;
use crate::wire::Build;

pub(crate) fn operation() -> OperationDoc {
    let example = json!({
        "id": "691f3c705c1e4d7f8a9b0c22", "tool_id": "691f3b2a5c1e4d7f8a9b0c1d", "state": "failed",
        "stage": "manifest", "message": "pyproject.toml:3: `timeout_seconds` should be a number", "creator": "ada",
        "started_at": "2026-11-20T09:37:36.000Z", "finished_at": "2026-11-20T09:37:37.000Z", "log": "checkout: 3 files\n",
    });
    OperationDoc::new("get-tool-build", sections::VERSIONS, "Show a build")
        .description(
            "One attempt to publish a version, with its log. The error of a refused publication has the id as \
            `build_id`.",
        )
        .returns::<Build>(200, "The build.", example)
}

/// The build of another tool is not found, as the build of another organisation is not.
pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(build): InPath<BuildId>,
) -> Result<Json<Build>, Error> {
    let found = store.versions().get_build(&principal.organization, &BuildReference::Build(build)).await?;
    let of_tool = found.filter(|build| build.tool == tool).ok_or(Error::NotFound)?;
    Ok(Json(of_tool.into()))
}
