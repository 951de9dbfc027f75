//! Builds: their states and logs.

use super::version::Version;
use crate::kit::account::{OrganizationId, UserId};
use crate::kit::clock::Timestamp;
use crate::kit::ids::{BuildId, ToolId, VersionId};

/// The result of a build that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBuild {
    /// The stage that failed: `manifest`, `compile`, …
    pub stage: String,
    pub message: String,
    pub log: String,
}

/// Failed builds, and the bytes of their logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OldBuilds {
    pub count: u64,
    pub bytes: u64,
}

/// The id of a build, or of the version that it made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildReference {
    Build(BuildId),
    Version(VersionId),
}

/// The state of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildState {
    Running,
    Succeeded { version: VersionId, number: Version },
    Failed { stage: String, message: String },
}

/// A stored build with its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    pub id: BuildId,
    pub organization: OrganizationId,
    pub tool: ToolId,
    pub state: BuildState,
    pub log: String,
    pub creator: UserId,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}
