//! `GET /v1/{organization}/tool/{tool_id}/build/{build_id}`: one attempt to publish, with its log, also one that failed.

use axum::Json;
use axum::extract::State;
use registry::{Build, BuildId, BuildReference, BuildState, ToolId, UserId, VersionId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

/// An attempt to publish a version.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Build")]
pub(crate) struct Response {
    id: BuildId,
    tool_id: ToolId,
    #[serde(flatten)]
    outcome: Outcome,
    creator: UserId,
    #[schemars(extend("format" = "date-time"))]
    started_at: String,
    /// Null while the build goes on.
    #[schemars(extend("format" = "date-time"))]
    finished_at: Option<String>,
    /// At most 100 KiB; empty while the build goes on.
    log: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
enum Outcome {
    Running,
    Succeeded { version: String, version_id: VersionId },
    Failed { stage: String, message: String },
}

pub(crate) fn operation() -> Operation {
    let example = json!({
        "id": "691f3c705c1e4d7f8a9b0c22", "tool_id": "691f3b2a5c1e4d7f8a9b0c1d", "state": "failed",
        "stage": "manifest", "message": "pyproject.toml:3: `timeout_seconds` should be a number", "creator": "ada",
        "started_at": "2026-11-20T09:37:36.000Z", "finished_at": "2026-11-20T09:37:37.000Z", "log": "checkout: 3 files\n",
    });
    Operation::new("get-tool-build", Tag::Versions, "Show a build")
        .says("One attempt to publish, with its log. The refusal of a publish names its build as `build_id`.")
        .answers::<Response>(200, "The build.", example)
}

/// The build of another tool is not found, as that of another organisation is not.
pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(tool): InPath<ToolId>,
    InPath(build): InPath<BuildId>,
) -> Result<Json<Response>, Error> {
    let found = app.store().get_build(&principal.organization, &BuildReference::Build(build)).await?;
    let of_tool = found.filter(|build| build.tool == tool).ok_or(Error::NotFound)?;
    Ok(Json(of_tool.into()))
}

impl From<Build> for Response {
    fn from(build: Build) -> Self {
        Self {
            id: build.id,
            tool_id: build.tool,
            outcome: build.state.into(),
            creator: build.creator,
            started_at: build.started_at.to_string(),
            finished_at: build.finished_at.map(|at| at.to_string()),
            log: build.log,
        }
    }
}

impl From<BuildState> for Outcome {
    fn from(state: BuildState) -> Self {
        match state {
            BuildState::Running => Self::Running,
            BuildState::Succeeded { version, number } => {
                Self::Succeeded { version: number.to_string(), version_id: version }
            }
            BuildState::Failed { stage, message } => Self::Failed { stage, message },
        }
    }
}
