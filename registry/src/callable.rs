//! The data that a call needs before a run can begin.

use crate::names::{EnvvarName, ToolName};
use crate::tool_version::ToolVersion;

/// A version with its tool's current name and variables.
#[derive(Debug)]
pub struct Callable {
    pub tool_name: ToolName,
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
