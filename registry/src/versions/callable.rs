//! The data that a call needs before a run can begin.

use super::tool_version::ToolVersion;
use crate::kit::byte_cache::heap_bytes;
use crate::tools::{EnvvarName, Tool};

/// A version with its tool and the tool's current variables.
#[derive(Debug)]
pub struct Callable {
    pub tool: Tool,
    pub version: ToolVersion,
    /// Encrypted variables, decrypted for each call.
    pub(crate) variables: Vec<SealedVariable>,
}

#[derive(Debug)]
pub(crate) struct SealedVariable {
    pub name: EnvvarName,
    pub is_secret: bool,
    pub sealed: Vec<u8>,
}

heap_bytes! {
    Callable { tool, version, variables }
    SealedVariable { name, sealed }
}
