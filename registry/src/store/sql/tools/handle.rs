//! The handle of the district.

use crate::store::handle::Store;

/// Tools, and their variables. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools {
    pub(super) store: Store,
}

impl Store {
    pub fn tools(&self) -> Tools {
        Tools { store: self.clone() }
    }
}
