//! What the sandbox is told: plain data, no handle to anything.

use registry::Digest;
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
    pub taping: Taping,
}
