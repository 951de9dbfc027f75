//! Listing the history of runs.

use super::dialect::{Query, Row};
use super::filters::Filters;
use super::history_statements::{LAST, statement};
use super::listing::Listing;
use super::record_pages::{Found, fitting_page, whole};
use super::row::{get, signed};
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::history::{InvocationFilter, InvocationSort};
use crate::page::{Direction, Page, Slice};
use crate::record::Record;
use crate::store::handle::Store;

/// Sort keys of a statement: as many as there are.
const KEYS: usize = 8;

/// The last record of the previous page, as a row of [`LAST`].
struct Last {
    row: Row,
    started_at: i64,
    invocation: String,
}

impl Store {
    /// Lists records, by default of ended runs, newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_invocations(
        &self,
        organization: &OrganizationId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Slice<Record>> {
        let orders = orders(&filter.sort);
        let (statement, has_keys) = statement(filter);
        let mut listing = self.listing(organization).await?;
        let last = self.last_invocation(&mut listing, organization, page).await?;
        let filters = Filters::of(&mut listing, organization, filter).await?;
        let query = filters.bound_to(statement, organization.as_str().to_owned());
        let query = query.bind(last.as_ref().map_or(i64::MAX, |last| last.started_at));
        let query = query.bind(last.as_ref().map(|last| last.invocation.clone()).unwrap_or_default());
        let mut query = query.bind(i64::from(page.limit) + 1);
        if has_keys {
            query = with_keys(query, &orders, last.as_ref())?;
        }
        let found = listing.rows(query).await?.iter().map(Found::read).collect::<Result<Vec<_>>>()?;
        let page = fitting_page(&found, page);
        let token = |last: &Found| self.page_tokens().seal(&list_of(organization), last.position);
        let Slice { items, next } = Slice::cut(found, page, token);
        Ok(Slice { items: whole(&mut listing, organization, &items).await?, next })
    }

    async fn last_invocation(
        &self,
        listing: &mut Listing,
        organization: &OrganizationId,
        page: Page,
    ) -> Result<Option<Last>> {
        if page.is_first() {
            return Ok(None);
        }
        let position = self.page_tokens().open(&list_of(organization), page.token).ok_or(Error::PageTokenUnknown)?;
        let query = sqlx::query(LAST).bind(organization.as_str()).bind(signed(position));
        let row = listing.row(query).await?.ok_or(Error::PageTokenUnknown)?;
        Ok(Some(Last { started_at: get(&row, "started_at")?, invocation: get(&row, "invocation")?, row }))
    }
}

/// Binds the sort keys, the values of the last record, and where an index of the first key begins.
fn with_keys(query: Query, orders: &Orders, last: Option<&Last>) -> Result<Query> {
    let mut query = orders.iter().fold(query, |query, (column, sign)| query.bind(column.map_or(0, key)).bind(*sign));
    for (column, _) in orders {
        query = match (last, column) {
            (Some(last), Some(InvocationSort::ToolId)) => query.bind(get::<String>(&last.row, "tool")?),
            (Some(last), Some(column)) => query.bind(number(last, *column)?),
            _ => query.bind(0),
        };
    }
    Ok(query.bind(match (last, orders[0]) {
        (Some(last), (Some(column @ (InvocationSort::CreatedAt | InvocationSort::DurationMs)), _)) => {
            number(last, column)?
        }
        (_, (_, 1)) => i64::MIN,
        _ => i64::MAX,
    }))
}

/// Returns the value of a record under a sort key that is a number.
fn number(last: &Last, column: InvocationSort) -> Result<i64> {
    let name = match column {
        InvocationSort::CreatedAt => "started_at",
        InvocationSort::DurationMs => "duration_ms",
        InvocationSort::Succeeded => "succeeded",
        InvocationSort::ToolId => "tool",
        InvocationSort::Major => "major",
        InvocationSort::Minor => "minor",
        InvocationSort::Patch => "patch",
        InvocationSort::SourceType => "is_simulation",
    };
    get(&last.row, name)
}

fn list_of(organization: &OrganizationId) -> [&str; 2] {
    ["history", organization.as_str()]
}

type Orders = [(Option<InvocationSort>, i64); KEYS];

/// Returns the distinct sort keys. A repeated key cannot change the order.
fn orders(sort: &[(InvocationSort, Direction)]) -> Orders {
    let mut orders: Orders = [(None, 1); KEYS];
    let first_mentions = sort.iter().enumerate().filter(|(index, (column, _))| {
        let before = sort.iter().take(*index);
        before.into_iter().all(|(other, _)| other != column)
    });
    for (order, (_, (column, direction))) in orders.iter_mut().zip(first_mentions) {
        *order = (Some(*column), sign(*direction));
    }
    orders
}

/// Returns the number of a sort key in the statements.
const fn key(column: InvocationSort) -> i64 {
    match column {
        InvocationSort::CreatedAt => 1,
        InvocationSort::DurationMs => 2,
        InvocationSort::Succeeded => 3,
        InvocationSort::ToolId => 4,
        InvocationSort::Major => 5,
        InvocationSort::Minor => 6,
        InvocationSort::Patch => 7,
        InvocationSort::SourceType => 8,
    }
}

const fn sign(direction: Direction) -> i64 {
    match direction {
        Direction::Ascending => 1,
        Direction::Descending => -1,
    }
}
