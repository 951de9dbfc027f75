//! Listing tools.

use super::dialect::Row;
use super::listing::Listing;
use super::row::{get, signed, to_json, to_list, unsigned};
use super::tools::{read, select_tools};
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::page::{Direction, Page, Slice};
use crate::store::handle::Store;
use crate::tool::{TagFilter, TagValue, Tool, ToolFilter, ToolSort};

/// Tag keys offered as filter values. A longer menu is of no use.
const TAG_KEYS_MAX: u32 = 1000;

/// A tool matches when it has all wanted tags. The rest of the statement adds the start of the page (`$5`) and its size (`$6`).
macro_rules! list {
    ($($rest:expr),*) => {
        select_tools!(
            "WHERE t.organization = $1
                AND ($2 IS NULL OR t.tool IN ",
            members_of!("$2"),
            ")
                AND ($3 IS NULL OR t.deprecated = $3)
                AND NOT EXISTS (SELECT 1 FROM ",
            rows_of!("$4"),
            " wanted WHERE NOT EXISTS (
                    SELECT 1 FROM tool_tags g
                    WHERE g.organization = t.organization AND g.tool = t.tool AND g.key = wanted.value ->> 0
                        AND (wanted.value ->> 1 = 'any' OR g.value IS wanted.value ->> 2))) ",
            $($rest),*
        )
    };
}

const NEWEST_FIRST: &str = list!("AND t.sequence < $5 ORDER BY t.sequence DESC LIMIT $6");

/// Compares a tool, by the order in `$order`, with the last tool of the previous page, whose name is `$9` and whose
/// deprecation was `$10`. Positive when the tool comes after it.
macro_rules! compared {
    ($order:literal) => {
        concat!(
            "(CASE ",
            $order,
            " WHEN '+name' THEN CASE WHEN t.name > $9 THEN 1 WHEN t.name < $9 THEN -1 ELSE 0 END
                WHEN '-name' THEN CASE WHEN t.name < $9 THEN 1 WHEN t.name > $9 THEN -1 ELSE 0 END
                WHEN '+deprecated' THEN t.deprecated - $10 WHEN '-deprecated' THEN $10 - t.deprecated ELSE 0 END)"
        )
    };
}

/// The sort terms of the order in `$order`, which may be null.
macro_rules! sorted {
    ($order:literal) => {
        concat!(
            "CASE ",
            $order,
            " WHEN '+name' THEN t.name END ASC, CASE ",
            $order,
            " WHEN '-name' THEN t.name END DESC, CASE ",
            $order,
            " WHEN '+deprecated' THEN t.deprecated WHEN '-deprecated' THEN -t.deprecated END, "
        )
    };
}

/// `$7` and `$8` are the orders of the two sort columns. For the first page `$9` is null.
const SORTED: &str = list!(
    "AND ($9 IS NULL OR ",
    compared!("$7"),
    " > 0 OR (",
    compared!("$7"),
    " = 0 AND (",
    compared!("$8"),
    " > 0 OR (",
    compared!("$8"),
    " = 0 AND t.sequence < $5))))
    ORDER BY ",
    sorted!("$7"),
    sorted!("$8"),
    "t.sequence DESC LIMIT $6"
);

const NAME_OF: &str = "SELECT name FROM tools WHERE organization = $1 AND sequence = $2";

/// The last tool of the previous page, with its state at that time.
struct Last {
    sequence: i64,
    name: Option<String>,
    deprecated: bool,
}

impl Store {
    /// Lists tools, by default newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_tools(
        &self,
        organization: &OrganizationId,
        filter: &ToolFilter,
        page: Page,
    ) -> Result<Slice<Tool>> {
        let mut listing = self.listing(organization).await?;
        let last = self.last_tool(&mut listing, organization, page).await?;
        let orders = orders(&filter.sort);
        let statement = if orders[0].is_some() { SORTED } else { NEWEST_FIRST };
        let query = sqlx::query(statement).bind(organization.as_str()).bind(to_list(&filter.ids)?);
        let query = query.bind(filter.deprecated);
        let query = query.bind(to_json(&filter.tags.iter().map(wanted).collect::<Vec<_>>())?);
        let mut query = query.bind(last.sequence).bind(i64::from(page.limit) + 1);
        if orders[0].is_some() {
            query = query.bind(orders[0]).bind(orders[1]).bind(last.name).bind(last.deprecated);
        }
        let rows = listing.rows(query).await?;
        let tools = rows.iter().map(|row| Ok((read(row)?, position(row)?))).collect::<Result<_>>()?;
        let token = |(_, position): &(Tool, u64)| self.page_tokens().seal(&list_of(organization), *position);
        Ok(Slice::cut(tools, page, token).map(|(tool, _)| tool))
    }

    async fn last_tool(&self, listing: &mut Listing, organization: &OrganizationId, page: Page) -> Result<Last> {
        if page.is_first() {
            return Ok(Last { sequence: i64::MAX, name: None, deprecated: false });
        }
        let position = self.page_tokens().open(&list_of(organization), page.token).ok_or(Error::PageTokenUnknown)?;
        let sequence = signed(position >> 1);
        let query = sqlx::query(NAME_OF).bind(organization.as_str()).bind(sequence);
        let row = listing.row(query).await?.ok_or(Error::PageTokenUnknown)?;
        Ok(Last { sequence, name: Some(get(&row, "name")?), deprecated: position & 1 == 1 })
    }

    /// Lists the keys of all tags in use, sorted.
    pub async fn tool_tag_keys(&self, organization: &OrganizationId) -> Result<Vec<String>> {
        let statement = "SELECT DISTINCT key FROM tool_tags WHERE organization = $1 ORDER BY key LIMIT $2";
        let query = sqlx::query(statement).bind(organization.as_str()).bind(TAG_KEYS_MAX);
        let rows = self.listing(organization).await?.rows(query).await?;
        rows.iter().map(|row| get(row, "key")).collect()
    }
}

fn list_of(organization: &OrganizationId) -> [&str; 2] {
    ["tools", organization.as_str()]
}

/// Returns the position of the row with its deprecation in the lowest bit: the only sort key of a tool that can change.
fn position(row: &Row) -> Result<u64> {
    Ok(unsigned(row, "sequence")? << 1 | u64::from(get::<bool>(row, "deprecated")?))
}

/// Returns the first two distinct sort keys. A repeated key cannot change the order.
fn orders(sort: &[(ToolSort, Direction)]) -> [Option<&'static str>; 2] {
    let first = sort.first();
    let second = sort.iter().find(|(column, _)| first.is_some_and(|(first, _)| first != column));
    [first, second].map(|sorted| sorted.copied().map(order))
}

const fn order((column, direction): (ToolSort, Direction)) -> &'static str {
    match (column, direction) {
        (ToolSort::Name, Direction::Ascending) => "+name",
        (ToolSort::Name, Direction::Descending) => "-name",
        (ToolSort::Deprecated, Direction::Ascending) => "+deprecated",
        (ToolSort::Deprecated, Direction::Descending) => "-deprecated",
    }
}

/// Returns the key, the comparison, and the value of a tag filter.
fn wanted(filter: &TagFilter) -> (&str, &'static str, Option<&str>) {
    match &filter.value {
        TagValue::Any => (&filter.key, "any", None),
        TagValue::Null => (&filter.key, "is", None),
        TagValue::Equals(value) => (&filter.key, "is", Some(value)),
    }
}
