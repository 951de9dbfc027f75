//! The items of a family in a scope.

use registry::statements::Query;

use crate::domain::library::{LibraryFamily, LibraryScope};

/// The condition that an item is of a shelf. [`LibraryShelf::query`] binds its values.
macro_rules! is_of_shelf {
    () => {
        "organization = $1 AND family = $2 AND owner = $3 AND app = $4 AND deleted_at IS NULL"
    };
}
pub(super) use is_of_shelf;

/// The items of a family in a scope.
pub(super) struct LibraryShelf {
    pub scope: LibraryScope,
    pub family: LibraryFamily,
}

impl LibraryShelf {
    /// Binds the values of [`is_of_shelf`].
    pub fn query(&self, statement: &'static str) -> Query {
        let Self { scope, family } = self;
        let query = Query::new(statement).bind(scope.organization.as_str()).bind(family.as_str());
        query.bind(scope.account.as_str()).bind(scope.stored_app())
    }
}
