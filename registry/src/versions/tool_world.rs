//! The WIT world that a version was built against.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kit::byte_cache::heap_bytes;

/// The interfaces between a version and the server, with their WIT names and versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolWorld {
    /// The name of the world, such as `lathe:tool/tool@0.1.0`.
    pub name: String,
    /// Interfaces that the component imports. For an interpreted language all imports of the world, because the interpreter
    /// imports them for any code.
    pub imports: Vec<String>,
    /// Exported functions, such as `run-tool`.
    pub exports: Vec<String>,
}

heap_bytes! {
    ToolWorld { name, imports, exports }
}
