//! Listing tools.

use super::row::{get, signed, to_json, to_list};
use super::tools::{read, select_tools};
use crate::account::OrganizationId;
use crate::error::Result;
use crate::page::{Direction, Page, Slice};
use crate::store::Store;
use crate::tool::{TagFilter, TagValue, Tool, ToolFilter, ToolSort};

/// Tag keys offered as filter values; more do not fit a menu.
const TAG_KEYS_MAX: u32 = 1000;

/// A tool passes when no wanted tag is missing. `$5` and `$6` are the first two sort orders.
const LIST: &str = select_tools!(
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
                AND (wanted.value ->> 1 = 'any' OR g.value IS wanted.value ->> 2)))
    ORDER BY
        CASE $5 WHEN '+name' THEN t.name END ASC, CASE $5 WHEN '-name' THEN t.name END DESC,
        CASE $5 WHEN '+deprecated' THEN t.deprecated WHEN '-deprecated' THEN -t.deprecated END,
        CASE $6 WHEN '+name' THEN t.name END ASC, CASE $6 WHEN '-name' THEN t.name END DESC,
        CASE $6 WHEN '+deprecated' THEN t.deprecated WHEN '-deprecated' THEN -t.deprecated END,
        t.created_at DESC, t.tool DESC
    LIMIT $7 OFFSET $8"
);

impl Store {
    /// Lists tools, newest first unless sorted otherwise.
    pub async fn list_tools(
        &self,
        organization: &OrganizationId,
        filter: &ToolFilter,
        page: Page,
    ) -> Result<Slice<Tool>> {
        let (first, second) = orders(&filter.sort);
        let query = sqlx::query(LIST).bind(organization.as_str()).bind(to_list(&filter.ids)?).bind(filter.deprecated);
        let query = query.bind(to_json(&filter.tags.iter().map(wanted).collect::<Vec<_>>())?).bind(first).bind(second);
        let query = query.bind(i64::from(page.limit) + 1).bind(signed(page.offset));
        let rows = query.fetch_all(self.readers()).await?;
        let tools = rows.iter().map(read).collect::<Result<_>>()?;
        Ok(Slice::cut(tools, page))
    }

    /// The keys of all tags in use, sorted.
    pub async fn tool_tag_keys(&self, organization: &OrganizationId) -> Result<Vec<String>> {
        let statement = "SELECT DISTINCT key FROM tool_tags WHERE organization = $1 ORDER BY key LIMIT $2";
        let query = sqlx::query(statement).bind(organization.as_str()).bind(TAG_KEYS_MAX);
        let rows = query.fetch_all(self.readers()).await?;
        rows.iter().map(|row| get(row, "key")).collect()
    }
}

/// The first mention of each column counts; a second one cannot change the order any more.
fn orders(sort: &[(ToolSort, Direction)]) -> (Option<&'static str>, Option<&'static str>) {
    let first = sort.first();
    let second = sort.iter().find(|(column, _)| first.is_some_and(|(first, _)| first != column));
    (first.copied().map(order), second.copied().map(order))
}

const fn order((column, direction): (ToolSort, Direction)) -> &'static str {
    match (column, direction) {
        (ToolSort::Name, Direction::Ascending) => "+name",
        (ToolSort::Name, Direction::Descending) => "-name",
        (ToolSort::Deprecated, Direction::Ascending) => "+deprecated",
        (ToolSort::Deprecated, Direction::Descending) => "-deprecated",
    }
}

/// Key, how to compare, and the value to compare with.
fn wanted(filter: &TagFilter) -> (&str, &'static str, Option<&str>) {
    match &filter.value {
        TagValue::Any => (&filter.key, "any", None),
        TagValue::Null => (&filter.key, "is", None),
        TagValue::Equals(value) => (&filter.key, "is", Some(value)),
    }
}
