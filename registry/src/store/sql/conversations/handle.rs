//! The handle of the district.

use crate::store::handle::Store;

/// Conversations of users with agents, and their turns. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Conversations {
    pub(super) store: Store,
}

impl Store {
    pub fn conversations(&self) -> Conversations {
        Conversations { store: self.clone() }
    }
}
