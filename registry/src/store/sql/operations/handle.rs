//! The handle of the district.

use crate::store::handle::Store;

/// Asynchronous operations, cancellations of runs, and answered attempts of calls. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Operations {
    pub(super) store: Store,
}

impl Store {
    pub fn operations(&self) -> Operations {
        Operations { store: self.clone() }
    }
}
