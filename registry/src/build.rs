//! Operations that exclude each other on one tool, and the builds that they leave behind.

use std::fmt;
use std::str::FromStr;

use crate::account::{OrganizationId, UserId};
use crate::clock::Timestamp;
use crate::error::InvalidValue;
use crate::ids::{BuildId, ToolId, VersionId};
use crate::version::Version;

/// What may hold a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Publish,
    Deprecate,
}

impl Operation {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Deprecate => "deprecate",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Operation {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "publish" => Ok(Self::Publish),
            "deprecate" => Ok(Self::Deprecate),
            _ => Err(InvalidValue::new("operation", "must be publish or deprecate")),
        }
    }
}

/// The refusal while another operation holds the tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another operation ({operation}) has been running on this tool since {since}")]
pub struct Busy {
    pub operation: Operation,
    pub since: Timestamp,
}

/// The right to change the versions of one tool. It ends at its expiry unless renewed, by the database's clock;
/// whoever takes it over gets a higher fence, and the writes of the lower one are refused from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub organization: OrganizationId,
    pub tool: ToolId,
    pub fence: i64,
    pub build: BuildId,
    pub operation: Operation,
    pub holder: UserId,
    pub acquired_at: Timestamp,
}

/// How a build ended without a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBuild {
    /// The step that failed: `manifest`, `compile`, …
    pub stage: String,
    pub message: String,
    pub log: String,
}

/// Which build's log is asked for.
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
