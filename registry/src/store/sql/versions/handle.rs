//! The handle of the district.

use crate::store::handle::Store;

/// Versions of tools, with their builds, leases and attestations. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Versions {
    pub(super) store: Store,
}

impl Store {
    pub fn versions(&self) -> Versions {
        Versions { store: self.clone() }
    }
}
