//! The handle of the district.

use crate::store::AgentStore;

/// Agents, with their drafts, states, assignments and revisions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Agents {
    pub(super) store: AgentStore,
}

impl AgentStore {
    pub fn agents(&self) -> Agents {
        Agents { store: self.clone() }
    }
}
