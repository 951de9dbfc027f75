//! The handle of the district.

use crate::store::handle::Store;

/// Agents, with their drafts, states, assignments and revisions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Agents {
    pub(super) store: Store,
}

impl Store {
    pub fn agents(&self) -> Agents {
        Agents { store: self.clone() }
    }
}
