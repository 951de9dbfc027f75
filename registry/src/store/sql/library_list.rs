//! Listing items of the Library, newest first: those of the user, and those that others share with the user.

use super::library::{Library, read};
use super::row::{get, parsed, to_json, unsigned};
use crate::error::Result;
use crate::ids::LibraryItemId;
use crate::library::{LibraryFamily, LibraryFilter, LibraryItem, LibraryRange, require_no_nul};
use crate::store::database::Row;

/// The conditions of a filter, and the items that a page needs: no others are read. Ids begin with the age of their items.
macro_rules! newest {
    () => {
        " AND i.deleted_at IS NULL AND (CAST($5 AS TEXT) IS NULL OR i.label = $5)
        AND NOT EXISTS (SELECT 1 FROM {members $6} wanted
            WHERE wanted.value NOT IN (SELECT value FROM {members i.tags} present))
        ORDER BY i.item DESC LIMIT CAST($7 AS BIGINT) + CAST($8 AS BIGINT)"
    };
}

const LIST: &str = concat!(
    "SELECT * FROM (SELECT i.* FROM library_items i
        WHERE i.organization = $1 AND i.family = $2 AND i.owner = $3 AND i.app = $4",
    newest!(),
    ") own UNION ALL SELECT * FROM (SELECT i.* FROM library_shares s
        JOIN library_items i ON i.organization = s.organization AND i.item = s.item
        WHERE s.organization = $1 AND s.user_id = $3 AND i.family = $2 AND i.owner <> $3",
    newest!(),
    ") shared ORDER BY item DESC LIMIT $7 OFFSET $8"
);

const REVISIONS: &str = "SELECT * FROM (SELECT i.item, i.revision FROM library_items i
        WHERE i.organization = $1 AND i.family = $2 AND i.owner = $3 AND i.app = $4 AND i.deleted_at IS NULL
        ORDER BY i.item DESC LIMIT $5) own
    UNION ALL SELECT * FROM (SELECT i.item, i.revision FROM library_shares s
        JOIN library_items i ON i.organization = s.organization AND i.item = s.item
        WHERE s.organization = $1 AND s.user_id = $3 AND i.family = $2 AND i.owner <> $3 AND i.deleted_at IS NULL
        ORDER BY i.item DESC LIMIT $5) shared
    ORDER BY item DESC LIMIT $5";

/// Numbers that change with every change of items: a new item is the newest or one more, and revisions only grow.
macro_rules! totals {
    () => {
        "count(*) AS items, CAST(coalesce(sum(i.revision), 0) AS BIGINT) AS revisions, coalesce(max(i.item), '') AS newest"
    };
}

const FINGERPRINT: &str = concat!(
    "SELECT 1 AS part, ",
    totals!(),
    " FROM library_items i
        WHERE i.organization = $1 AND i.family = $2 AND i.owner = $3 AND i.app = $4 AND i.deleted_at IS NULL
    UNION ALL SELECT 2 AS part, ",
    totals!(),
    " FROM library_shares s JOIN library_items i ON i.organization = s.organization AND i.item = s.item
        WHERE s.organization = $1 AND s.user_id = $3 AND i.family = $2 AND i.owner <> $3 AND i.deleted_at IS NULL
    ORDER BY part"
);

impl Library {
    /// Lists the items of a family that the user owns or that others share with the user.
    pub async fn list(
        &self,
        family: LibraryFamily,
        filter: &LibraryFilter,
        range: LibraryRange,
    ) -> Result<Vec<LibraryItem>> {
        require_no_nul(filter.label.iter().chain(&filter.tags))?;
        let mut listing = self.store.listing(&self.scope.organization).await?;
        let query = self.shelf(family).query(LIST).bind(filter.label.clone()).bind(to_json(&filter.tags)?);
        let rows = listing.rows(query.bind(i64::from(range.limit)).bind(i64::from(range.offset))).await?;
        rows.iter().map(read).collect()
    }

    /// Returns the ids and the revisions of the items that [`Library::list`] would list without a filter.
    pub async fn revisions(&self, family: LibraryFamily, limit: u32) -> Result<Vec<(LibraryItemId, u64)>> {
        let query = self.shelf(family).query(REVISIONS).bind(i64::from(limit));
        let rows = query.fetch_all(self.store.readers()).await?;
        rows.iter().map(|row| Ok((parsed(row, "item")?, unsigned(row, "revision")?))).collect()
    }

    /// Returns a text that changes with the items that [`Library::list`] would list without a filter. Cheaper than their revisions.
    pub async fn fingerprint(&self, family: LibraryFamily) -> Result<String> {
        let rows = self.shelf(family).query(FINGERPRINT).fetch_all(self.store.readers()).await?;
        let parts = rows.iter().map(part_of_fingerprint).collect::<Result<Vec<_>>>()?;
        Ok(parts.join(" "))
    }
}

fn part_of_fingerprint(row: &Row) -> Result<String> {
    let (items, revisions, newest) =
        (unsigned(row, "items")?, unsigned(row, "revisions")?, get::<&str>(row, "newest")?);
    Ok(format!("{items} {revisions} {newest}"))
}
