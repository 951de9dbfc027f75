//! A version or a branch with everything that its runs need.

use std::collections::BTreeMap;
use std::sync::Arc;

use registry::{Callable, Constraint, Digest, Language, ToolId, ToolName, Variables, Version};

use crate::calls::versions::LoadedVersion;
use crate::limits::Limits;
use crate::sandbox::egress::EgressPolicy;

/// The subject of a call with everything that its runs need.
pub(super) struct Resolved {
    /// The version with its tool; `None` for a branch and for a replay.
    pub callable: Option<Arc<Callable>>,
    pub tool_id: Option<ToolId>,
    pub tool_name: String,
    pub version: Version,
    pub loaded: Arc<LoadedVersion>,
    pub language: Language,
    pub limits: Limits,
    /// Variables that the tool receives.
    pub variables: Variables,
    pub egress_policy: EgressPolicy,
    /// Tools that its runs may call, with the versions that it accepts.
    pub calls: BTreeMap<ToolName, Constraint>,
    /// Digest of a version's whole component; `None` for a branch.
    pub component: Option<Digest>,
    pub is_recorded: bool,
    /// The tool whose recorded responses simulations use and regular runs extend, when the tool allows it.
    pub responses_of: Option<ToolId>,
}
