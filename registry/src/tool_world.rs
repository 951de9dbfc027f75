//! The boundary between a tool and its host, as one version was built against it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a version needs of its host, and what its host calls. Names are those of WIT, with their releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolWorld {
    /// `lathe:tool/tool@0.1.0`.
    pub name: String,
    /// Of a component all interfaces that it imports. Of code for an interpreter all that the world has, since the
    /// interpreter imports them for any code.
    pub imports: Vec<String>,
    /// Functions such as `run-tool`.
    pub exports: Vec<String>,
}
