//! Builds.

use registry::{BuildId, BuildState, ToolId, VersionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An attempt to publish a version.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    pub id: BuildId,
    pub tool_id: ToolId,
    #[serde(flatten)]
    pub outcome: BuildOutcome,
    pub creator: String,
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Null while the build runs.
    #[schemars(extend("format" = "date-time"))]
    pub finished_at: Option<String>,
    /// Log of the build, at most 100 KiB. Empty while the build runs.
    pub log: String,
}

/// The state of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum BuildOutcome {
    Running,
    Succeeded {
        version: String,
        version_id: VersionId,
    },
    Failed {
        stage: String,
        message: String,
    },
    /// A state that a later release added.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl From<registry::Build> for Build {
    fn from(build: registry::Build) -> Self {
        Self {
            id: build.id,
            tool_id: build.tool,
            outcome: build.state.into(),
            creator: build.creator.into(),
            started_at: build.started_at.to_string(),
            finished_at: build.finished_at.map(|at| at.to_string()),
            log: build.log,
        }
    }
}

impl From<BuildState> for BuildOutcome {
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
