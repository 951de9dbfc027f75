//! The handle of the district.

use crate::store::handle::Store;

/// Organisations, users, roles, API keys, tokens, and OAuth clients with their authorisations. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Access {
    pub(super) store: Store,
}

impl Store {
    pub fn access(&self) -> Access {
        Access { store: self.clone() }
    }
}
