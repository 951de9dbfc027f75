//! What a call has to know of the tool before a run can begin.

use crate::names::{EnvvarName, ToolName};
use crate::tool_version::ToolVersion;

/// A version with what its tool has now.
#[derive(Debug)]
pub struct Callable {
    pub tool_name: ToolName,
    pub version: ToolVersion,
    /// Opened for each call anew.
    pub(crate) variables: Vec<SealedVariable>,
}

#[derive(Debug)]
pub(crate) struct SealedVariable {
    pub name: EnvvarName,
    pub is_secret: bool,
    pub sealed: Vec<u8>,
}
