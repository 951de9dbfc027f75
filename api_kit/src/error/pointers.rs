//! Ids in an error response, with which a client can query more.

use registry::{BuildId, OperationId, RunId, VersionId};
use schemars::JsonSchema;
use serde::Serialize;

use super::Error;

/// Fields beside `detail` and `code`. Most errors have none of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Pointers {
    /// The build that failed. Its log is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    build_id: Option<BuildId>,
    /// The operation of the idempotency key.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<OperationId>,
    /// The runs that had begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    invocation_ids: Option<Vec<RunId>>,
    /// The version that exists already.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The id of a published version of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<VersionId>,
}

impl Error {
    /// Returns the cause of a failed build, or the error itself, and the ids that it names.
    pub(super) fn with_pointers(self) -> (Self, Pointers) {
        let (error, build_id) = match self {
            Self::InBuild { build, error } => (*error, Some(build)),
            error => (error, None),
        };
        let mut pointers = Pointers { build_id, ..Pointers::default() };
        match &error {
            Self::StillRunning { operation } => pointers.operation_id = Some(operation.clone()),
            Self::Interrupted { operation, runs } => {
                pointers.operation_id = Some(operation.clone());
                pointers.invocation_ids = Some(runs.clone());
            }
            Self::Registry(registry::Error::PublishedAlready { version, id, .. }) => {
                pointers.version = Some(version.to_string());
                pointers.version_id = Some(id.clone());
            }
            _ => {}
        }
        (error, pointers)
    }
}
