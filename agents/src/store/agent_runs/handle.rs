//! The handle of the district.

use crate::store::AgentStore;

/// Runs of agents, and their requests to people. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AgentRuns {
    pub(super) store: AgentStore,
}

impl AgentStore {
    pub fn agent_runs(&self) -> AgentRuns {
        AgentRuns { store: self.clone() }
    }
}
