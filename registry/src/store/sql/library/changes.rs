//! Who hears of the changes of an item.

use super::shelf::LibraryShelf;
use crate::error::Result;
use crate::kit::ids::LibraryItemId;
use crate::store::changes::{Change, ChangeKind};
use crate::store::database::{Connection, Query};

/// Whether an item was shared with others, or is an artifact that the whole organisation reads.
const HAS_READERS: &str = "SELECT 1 AS found FROM library_shares WHERE organization = $1 AND item = $2
    UNION ALL SELECT 1 AS found FROM library_items WHERE organization = $1 AND item = $2 AND family = 'artifacts'
        AND (CAST({field body shared_to_org} AS TEXT) IN ('1', 'true') OR CAST({field body is_public} AS TEXT) IN ('1', 'true'))
    LIMIT 1";

impl LibraryShelf {
    /// Announces the present state of an item to those who see it: before a change, and after one.
    pub async fn announce(&self, connection: &mut Connection, item: &LibraryItemId) -> Result<()> {
        let Some(kind) = ChangeKind::of_family(self.family) else { return Ok(()) };
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
