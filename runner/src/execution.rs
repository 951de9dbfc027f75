//! What the sandbox is told: plain data, no handle to anything.

use std::hash::{DefaultHasher, Hash, Hasher};

use registry::{Digest, OrganizationId};
use serde::{Deserialize, Serialize};

use crate::{Limits, Taping};

/// Which code to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Code {
    /// The component to instantiate: a tool of its own, or a language's image.
    pub component: Digest,
    /// The author's code, when `component` is an image. It is not part of a
    /// message: a runner process gets it once.
    #[serde(skip)]
    pub bundle: std::sync::Arc<[u8]>,
}

/// The number of an organisation among all runs. Two that share one would share their turns, and nothing else.
pub(crate) fn group_of(organization: &OrganizationId) -> u64 {
    let mut hasher = DefaultHasher::new();
    organization.hash(&mut hasher);
    hasher.finish()
}

/// One input of one invocation. The strings are JSON documents, in the shapes
/// that `scaffold/wit` gives.
#[derive(Clone, Serialize, Deserialize)]
pub struct Execution {
    pub code: Code,
    pub tool_input: String,
    pub metadata: String,
    pub config: String,
    pub conversation: String,
    pub user_variables: String,
    pub limits: Limits,
    /// Equal for runs of one organisation, which share what each organisation gets of a processor.
    pub group: u64,
    pub taping: Taping,
}
