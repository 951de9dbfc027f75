//! The handle of the district.

use crate::store::AgentStore;

/// Conversations of users with agents, and their turns. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Conversations {
    pub(super) store: AgentStore,
}

impl AgentStore {
    pub fn conversations(&self) -> Conversations {
        Conversations { store: self.clone() }
    }
}
