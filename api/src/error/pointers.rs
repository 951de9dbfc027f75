//! What a refusal is about, for machines: ids under which more can be asked for.

use registry::{BuildId, InvocationId, OperationId, VersionId};
use schemars::JsonSchema;
use serde::Serialize;

use super::Error;

/// Stands beside `detail` and `code`; most refusals have none of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Pointers {
    /// The build that was refused: its log is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    build_id: Option<BuildId>,
    /// What the idempotency key stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<OperationId>,
    /// The runs that had begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    invocation_ids: Option<Vec<InvocationId>>,
    /// The version that is there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<VersionId>,
}

impl Error {
    /// What ended the work, and what it points to.
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
            Self::Registry(registry::Error::PublishedAlready { version, id }) => {
                pointers.version = Some(version.to_string());
                pointers.version_id = Some(id.clone());
            }
            _ => {}
        }
        (error, pointers)
    }
}
