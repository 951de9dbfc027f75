//! Listing items of the Library, newest first: those of the user, and those that others share with the user.

use registry::statements::{Row, get, parse_column, read_unsigned, to_json};
use registry::{LibraryItemId, Result};

use super::content::listed_columns;
use super::item::{Library, read};
use crate::domain::library::{LibraryFamily, LibraryFilter, LibraryItem, LibraryRange, require_no_nul};

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
    "SELECT * FROM (SELECT ",
    listed_columns!(),
    " FROM library_items i WHERE i.organization = $1 AND i.family = $2 AND i.owner = $3 AND i.app = $4",
    newest!(),
    ") own UNION ALL SELECT * FROM (SELECT ",
    listed_columns!(),
    " FROM library_shares s JOIN library_items i ON i.organization = s.organization AND i.item = s.item
        WHERE s.organization = $1 AND s.account = $3 AND s.family = $2 AND i.family = $2 AND i.owner <> $3",
    newest!(),
    ") shared ORDER BY item DESC LIMIT $7 OFFSET $8"
);

/// The items before an id, newest first: of both parts, no more are read than the page has.
macro_rules! page {
    ($($columns:tt)+) => {
        concat!(
            "SELECT * FROM (SELECT ",
            $($columns)+,
            " FROM library_items i WHERE i.organization = $1 AND i.family = $2 AND i.owner = $3 AND i.app = $4
                AND i.deleted_at IS NULL AND i.item >= $5 AND i.item < $6 ORDER BY i.item DESC LIMIT $7
            ) own UNION ALL SELECT * FROM (SELECT ",
            $($columns)+,
            " FROM library_shares s JOIN library_items i ON i.organization = s.organization AND i.item = s.item
                WHERE s.organization = $1 AND s.account = $3 AND s.family = $2 AND s.item >= $5 AND s.item < $6
                AND i.family = $2 AND i.owner <> $3 AND i.deleted_at IS NULL ORDER BY s.item DESC LIMIT $7
            ) shared ORDER BY item DESC LIMIT $7"
        )
    };
}

const PAGE: &str = page!(listed_columns!());

const IDS: &str = page!("i.item");

/// Greater than every id.
const AFTER_ALL: &str = "~";

/// The changes of items of others count while there are any.
const CHANGES: &str = "SELECT app, changes FROM library_changes
    WHERE organization = $1 AND family = $2 AND reader = $3 AND (app = $4 OR app = '*' AND EXISTS
        (SELECT 1 FROM library_shares s WHERE s.organization = $1 AND s.account = $3 AND s.family = $2)) ORDER BY app";

impl Library {
    /// Lists the items of a family that the user owns or that others share with the user.
    pub async fn list(
        &self,
        family: LibraryFamily,
        filter: &LibraryFilter,
        range: LibraryRange,
    ) -> Result<Vec<LibraryItem>> {
        require_no_nul(filter.label.iter().chain(&filter.tags))?;
        let mut listing = self.store.open_listing(&self.scope.organization).await?;
        let query = self.shelf(family).query(LIST).bind(filter.label.clone()).bind(to_json(&filter.tags)?);
        let rows = listing.rows(query.bind(i64::from(range.limit)).bind(i64::from(range.offset))).await?;
        rows.iter().map(read).collect()
    }

    /// Returns the items that [`Library::list`] would list without a filter, from the one that follows `after`.
    pub async fn page(
        &self,
        family: LibraryFamily,
        after: Option<&LibraryItemId>,
        limit: u32,
    ) -> Result<Vec<LibraryItem>> {
        let before = after.map_or(AFTER_ALL, LibraryItemId::as_str);
        let mut listing = self.store.open_listing(&self.scope.organization).await?;
        let query = self.shelf(family).query(PAGE).bind("").bind(before).bind(i64::from(limit));
        let rows = listing.rows(query).await?;
        rows.iter().map(read).collect()
    }

    /// Returns ids of these items that begin with a text, newest first.
    pub async fn ids_with(&self, family: LibraryFamily, prefix: &str, limit: u32) -> Result<Vec<LibraryItemId>> {
        if !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let query = self.shelf(family).query(IDS).bind(prefix).bind(format!("{prefix}{AFTER_ALL}"));
        let rows = query.bind(i64::from(limit)).fetch_all(self.store.readers()).await?;
        rows.iter().map(|row| parse_column(row, "item")).collect()
    }

    /// Returns a text that changes with the items that [`Library::list`] would list without a filter. It reads two numbers.
    pub async fn fingerprint(&self, family: LibraryFamily) -> Result<String> {
        let rows = self.shelf(family).query(CHANGES).fetch_all(self.store.readers()).await?;
        let part = |row: &Row| Ok(format!("{} {}", get::<&str>(row, "app")?, read_unsigned(row, "changes")?));
        Ok(rows.iter().map(part).collect::<Result<Vec<_>>>()?.join(" "))
    }
}
