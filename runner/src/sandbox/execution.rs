//! The request to run one input in the sandbox, as plain data.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use registry::{Digest, OrganizationId};
use serde::{Deserialize, Serialize};

use crate::interaction::Interaction;
use crate::limits::Limits;
use crate::sandbox::tape::TapeMode;

/// The code to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Code {
    /// The component to instantiate: a compiled tool, or a language's image.
    pub component: Digest,
    /// The author's code, when `component` is an image. Otherwise empty.
    pub bundle: CodeBundle,
}

/// An author's code and its digest. Only the digest is serialised: a runner process receives the bytes of each bundle once.
/// Clones share the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CodeBundle {
    digest: Digest,
    #[serde(skip)]
    bytes: Arc<[u8]>,
}

impl CodeBundle {
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { digest: Digest::of(&bytes), bytes }
    }

    /// Adds the bytes to a bundle that was received without them.
    pub(crate) fn with_bytes(self, bytes: Arc<[u8]>) -> Self {
        Self { bytes, ..self }
    }

    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    #[must_use]
    pub const fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }
}

/// The bundle of a component that needs none.
impl Default for CodeBundle {
    fn default() -> Self {
        static EMPTY: LazyLock<CodeBundle> = LazyLock::new(|| CodeBundle::new([]));
        EMPTY.clone()
    }
}

/// The scheduling group of an organisation. Two organisations with the same number share processor time, and nothing
/// else.
pub(crate) fn compute_group(organization: &OrganizationId) -> u64 {
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
    /// Questions that the run may ask, and the answers that it has.
    pub interaction: Interaction,
}
