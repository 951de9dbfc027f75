//! `GET /v1/{organization}/tool/{tool_id}/build/{build_id}`: one attempt to publish, with its log, also one that failed.

use axum::Json;
use axum::extract::State;
use registry::{Build, BuildId, BuildReference, BuildState, ToolId, UserId, VersionId};
use serde::Serialize;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;

#[derive(Serialize)]
pub(crate) struct Response {
    id: BuildId,
    tool_id: ToolId,
    #[serde(flatten)]
    outcome: Outcome,
    creator: UserId,
    started_at: String,
    /// Null while the build goes on.
    finished_at: Option<String>,
    /// At most 100 KiB; empty while the build goes on.
    log: String,
}

#[derive(Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum Outcome {
    Running,
    Succeeded { version: String, version_id: VersionId },
    Failed { stage: String, message: String },
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
