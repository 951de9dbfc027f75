//! The handle of the district.

use crate::store::handle::Store;

/// The servers of the database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Nodes {
    pub(super) store: Store,
}

impl Store {
    pub fn nodes(&self) -> Nodes {
        Nodes { store: self.clone() }
    }
}
