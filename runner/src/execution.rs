//! The request to run one input in the sandbox, as plain data.

use std::hash::{DefaultHasher, Hash, Hasher};

use registry::{Digest, OrganizationId};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::tape::TapeMode;

/// The code to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Code {
    /// The component to instantiate: a compiled tool, or a language's image.
    pub component: Digest,
    /// The author's code, when `component` is an image. It is not serialised: a runner process receives each bundle
    /// once.
    #[serde(skip)]
    pub bundle: std::sync::Arc<[u8]>,
}

/// The scheduling group of an organisation. Two organisations with the same number share processor time, and nothing
/// else.
pub(crate) fn group_of(organization: &OrganizationId) -> u64 {
    let mut hasher = DefaultHasher::new();
    organization.hash(&mut hasher);
    hasher.finish()
}

/// The JSON documents that a tool receives. `scaffold/wit` describes their shapes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDocuments {
    pub tool_input: String,
    pub metadata: String,
    pub config: String,
    pub conversation: String,
    pub user_variables: String,
}

/// One run: code, documents and limits.
#[derive(Clone, Serialize, Deserialize)]
pub struct Execution {
    pub code: Code,
    pub documents: RunDocuments,
    pub limits: Limits,
    /// The scheduling group, equal for all runs of one organisation.
    pub group: u64,
    pub tape_mode: TapeMode,
}
