//! Listing tools.

use serde::Serialize;

use super::handle::Tools;
use super::tool::{read, select_tools};
use crate::error::{Error, Result};
use crate::kit::account::OrganizationId;
use crate::kit::invalid_value::refuse_nul;
use crate::kit::page::{Page, Slice};
use crate::store::database::{Query, Row, Statement, Value};
use crate::store::page_tokens::filter_name;
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::{get, read_unsigned, to_list, to_signed};
use crate::store::sql::kit::sequence_order::{SortedBy, add_order, sort_keys};
use crate::tools::{TagFilter, TagValue, Tool, ToolFilter, ToolSort};

/// Tag keys offered as filter values. A longer menu is of no use.
const TAG_KEYS_MAX: u32 = 1000;

/// Tools that lack none of the wanted tags.
const WITH_TAGS: &str = " AND NOT EXISTS (SELECT 1 FROM {records ? key TEXT, compared TEXT, value TEXT} wanted
    WHERE NOT EXISTS (SELECT 1 FROM tool_tags g
        WHERE g.organization = t.organization AND g.tool = t.tool AND g.key = wanted.key
            AND (wanted.compared = 'any' OR g.value IS NOT DISTINCT FROM wanted.value)))";

const NAME_OF: &str = "SELECT name FROM tools WHERE organization = $1 AND sequence = $2";

/// The last tool of the previous page, with its state at that time.
struct LastTool {
    sequence: i64,
    name: String,
    deprecated: bool,
}

impl Tools {
    /// Lists tools, by default newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_tools(
        &self,
        organization: &OrganizationId,
        filter: &ToolFilter,
        page: Page,
    ) -> Result<Slice<Tool>> {
        let filter_name = filter_name(filter);
        let list_names = ["tools", organization.as_str(), &filter_name];
        let mut listing = self.store.open_listing(organization).await?;
        let last = self.find_last_tool(&mut listing, organization, &list_names, page).await?;
        let mut statement = list(organization, filter, last.as_ref())?;
        statement.bind(" LIMIT ?", i64::from(page.limit) + 1);
        let rows = listing.rows(statement.query()).await?;
        let tools = rows.iter().map(|row| Ok((read(row)?, read_position(row)?))).collect::<Result<_>>()?;
        let token = |(_, position): &(Tool, u64)| self.store.page_tokens().seal(&list_names, *position);
        Ok(Slice::cut(tools, page, token).map(|(tool, _)| tool))
    }

    async fn find_last_tool(
        &self,
        listing: &mut Listing,
        organization: &OrganizationId,
        list_names: &[&str],
        page: Page,
    ) -> Result<Option<LastTool>> {
        if page.is_first() {
            return Ok(None);
        }
        let position = self.store.page_tokens().open(list_names, page.token).ok_or(Error::PageTokenUnknown)?;
        let sequence = to_signed(position >> 1);
        let query = Query::new(NAME_OF).bind(organization.as_str()).bind(sequence);
        let row = listing.row(query).await?.ok_or(Error::PageTokenUnknown)?;
        Ok(Some(LastTool { sequence, name: get(&row, "name")?, deprecated: position & 1 == 1 }))
    }

    /// Lists the keys of all tags in use, sorted.
    pub async fn tool_tag_keys(&self, organization: &OrganizationId) -> Result<Vec<String>> {
        let statement = "SELECT DISTINCT key FROM tool_tags WHERE organization = $1 ORDER BY key LIMIT $2";
        let query = Query::new(statement).bind(organization.as_str()).bind(TAG_KEYS_MAX);
        let rows = self.store.open_listing(organization).await?.rows(query).await?;
        rows.iter().map(|row| get(row, "key")).collect()
    }
}

/// Returns the position of the row with its deprecation in the lowest bit: the only sort key of a tool that can change.
fn read_position(row: &Row) -> Result<u64> {
    Ok(read_unsigned(row, "sequence")? << 1 | u64::from(get::<bool>(row, "deprecated")?))
}

/// Returns the statement that lists tools after the last one of the previous page.
fn list(organization: &OrganizationId, filter: &ToolFilter, last: Option<&LastTool>) -> Result<Statement> {
    refuse_nul("a filter", filter.tags.iter().flat_map(list_texts))?;
    let mut statement = Statement::with(organization.as_str());
    statement.push(select_tools!("WHERE t.organization = $1"));
    statement.bind_some(" AND t.tool IN {members ?}", to_list(&filter.ids)?);
    statement.bind_some(" AND t.deprecated = ?", filter.deprecated);
    statement.bind_some(WITH_TAGS, to_list(&filter.tags.iter().map(build_wanted_tag).collect::<Vec<_>>())?);
    let keys = sort_keys(&filter.sort).into_iter().map(|(column, direction)| SortedBy {
        column: name(column),
        direction,
        last: last.map(|last| last.value(column)),
    });
    add_order(&mut statement, keys.collect(), "t.sequence", last.map(|last| last.sequence));
    Ok(statement)
}

impl LastTool {
    fn value(&self, column: ToolSort) -> Value {
        match column {
            ToolSort::Name => self.name.as_str().into(),
            ToolSort::Deprecated => self.deprecated.into(),
        }
    }
}

const fn name(column: ToolSort) -> &'static str {
    match column {
        ToolSort::Name => "t.name",
        ToolSort::Deprecated => "t.deprecated",
    }
}

/// A tag filter as a row.
#[derive(Serialize)]
struct WantedTag<'a> {
    key: &'a str,
    compared: &'static str,
    value: Option<&'a str>,
}

fn list_texts(filter: &TagFilter) -> impl Iterator<Item = &str> {
    let value = match &filter.value {
        TagValue::Any | TagValue::Null => None,
        TagValue::Equals(value) => Some(value.as_str()),
    };
    std::iter::once(filter.key.as_str()).chain(value)
}

fn build_wanted_tag(filter: &TagFilter) -> WantedTag<'_> {
    let (compared, value) = match &filter.value {
        TagValue::Any => ("any", None),
        TagValue::Null => ("is", None),
        TagValue::Equals(value) => ("is", Some(value.as_str())),
    };
    WantedTag { key: &filter.key, compared, value }
}
