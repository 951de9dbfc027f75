//! The items of the user on whose behalf a tool runs.

use registry::{LibraryFamily, LibraryScope, LibraryShelf, Provenance, Store};

/// The Library as a call sees it.
#[derive(Debug, Clone)]
pub struct Library {
    pub(crate) store: Store,
    pub(crate) scope: LibraryScope,
    /// Of what the call writes.
    pub(crate) provenance: Provenance,
}

impl Library {
    pub(super) fn shelf(&self, family: LibraryFamily) -> LibraryShelf {
        LibraryShelf { scope: self.scope.clone(), family }
    }
}
