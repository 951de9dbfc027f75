//! Who hears of the changes of an item.

use registry::statements::{Change, ChangeKind, Connection, Query};
use registry::{LibraryItemId, Result};

use super::shelf::LibraryShelf;
use crate::domain::library::LibraryFamily;

/// Whether an item was shared with others, or is an artifact that the whole organisation reads.
const HAS_READERS: &str = "SELECT 1 AS found FROM library_shares WHERE organization = $1 AND item = $2
    UNION ALL SELECT 1 AS found FROM library_items WHERE organization = $1 AND item = $2 AND family = 'artifacts'
        AND (CAST({field body shared_to_org} AS TEXT) IN ('1', 'true') OR CAST({field body is_public} AS TEXT) IN ('1', 'true'))
    LIMIT 1";

/// The change of the items of a family; `None` for items that no server keeps.
const fn find_change(family: LibraryFamily) -> Option<ChangeKind> {
    match family {
        LibraryFamily::Prompts | LibraryFamily::Artifacts | LibraryFamily::Skills => Some(ChangeKind::Library),
        LibraryFamily::Rules => Some(ChangeKind::Rules),
        _ => None,
    }
}

impl LibraryShelf {
    /// Announces the present state of an item to those who see it: before a change, and after one.
    pub async fn announce(&self, connection: &mut Connection, item: &LibraryItemId) -> Result<()> {
        let Some(kind) = find_change(self.family) else { return Ok(()) };
        let organization = &self.scope.organization;
        let query = Query::new(HAS_READERS).bind(organization.as_str()).bind(item.as_str());
        let has_readers = query.fetch_optional(&mut *connection).await?.is_some();
        connection.announce(match has_readers {
            true => Change::of_organization(kind, organization),
            false => Change::of_user(kind, organization, &self.scope.account),
        });
        Ok(())
    }
}
