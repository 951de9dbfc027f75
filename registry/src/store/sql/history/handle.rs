//! The handle of the district.

use crate::store::handle::Store;

/// The record of runs, with tapes, recorded answers and legal holds. Cheap to clone.
#[derive(Clone, Debug)]
pub struct History {
    pub(super) store: Store,
}

impl Store {
    pub fn history(&self) -> History {
        History { store: self.clone() }
    }
}
