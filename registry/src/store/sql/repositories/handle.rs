//! The handle of the district.

use crate::store::handle::Store;

/// The contents and leases of git repositories that servers share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Repositories {
    pub(super) store: Store,
}

impl Store {
    pub fn repositories(&self) -> Repositories {
        Repositories { store: self.clone() }
    }
}
