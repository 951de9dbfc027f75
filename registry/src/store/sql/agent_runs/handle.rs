//! The handle of the district.

use crate::store::handle::Store;

/// Runs of agents, and their requests to people. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AgentRuns {
    pub(super) store: Store,
}

impl Store {
    pub fn agent_runs(&self) -> AgentRuns {
        AgentRuns { store: self.clone() }
    }
}
