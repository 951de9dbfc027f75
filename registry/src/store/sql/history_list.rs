//! Listing the history of runs.

use super::dialect::Query;
use super::filters::Filters;
use super::history_statements::statement;
use super::listing::Listing;
use super::record_pages::{Found, fitting, whole};
use super::row::{get, signed};
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::history::{InvocationFilter, InvocationSort};
use crate::invocation::Invocation;
use crate::page::{Direction, Page, Slice};
use crate::store::handle::Store;

const LAST: &str = "SELECT s.invocation, s.started_at, f.duration_ms, f.succeeded FROM inv_finished f
    JOIN inv_started s ON s.invocation = f.invocation
    WHERE f.organization = $1 AND f.sequence = $2";

/// Number of sort columns.
const KEYS: usize = 3;

/// The last record of the previous page.
struct Last {
    started_at: i64,
    invocation: String,
    duration_ms: i64,
    succeeded: i64,
}

impl Store {
    /// Lists records of ended runs, by default newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_invocations(
        &self,
        organization: &OrganizationId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Slice<Invocation>> {
        let orders = orders(&filter.sort);
        let (statement, has_keys) = statement(filter);
        self.wait_for_records().await;
        let mut listing = self.listing(organization).await?;
        let last = self.last_invocation(&mut listing, organization, page).await?;
        let filters = Filters::of(&mut listing, organization, filter).await?;
        let query = filters.bound_to(statement, organization.as_str().to_owned());
        let query = query.bind(last.as_ref().map_or(i64::MAX, |last| last.started_at));
        let mut query = query.bind(last.as_ref().map(|last| last.invocation.clone()).unwrap_or_default());
        query = query.bind(i64::from(page.limit) + 1);
        if has_keys {
            query = orders.iter().fold(query, |query, (column, sign)| query.bind(column.map(name)).bind(*sign));
            let keys = last.map_or([-i64::MAX; KEYS], |last| last.keys(&orders));
            query = keys.into_iter().fold(query, Query::bind);
        }
        let found = listing.rows(query).await?.iter().map(Found::read).collect::<Result<Vec<_>>>()?;
        let fitting = u32::try_from(fitting(&found)).unwrap_or(u32::MAX);
        let page = Page { limit: page.limit.min(fitting), ..page };
        let token = |last: &Found| self.page_tokens().seal(&list_of(organization), last.sequence);
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
        let sequence = self.page_tokens().open(&list_of(organization), page.token).ok_or(Error::PageTokenUnknown)?;
        let query = sqlx::query(LAST).bind(organization.as_str()).bind(signed(sequence));
        let row = listing.row(query).await?.ok_or(Error::PageTokenUnknown)?;
        Ok(Some(Last {
            started_at: get(&row, "started_at")?,
            invocation: get(&row, "invocation")?,
            duration_ms: get(&row, "duration_ms")?,
            succeeded: get(&row, "succeeded")?,
        }))
    }
}

impl Last {
    fn keys(&self, orders: &Orders) -> [i64; KEYS] {
        orders.map(|(column, sign)| column.map_or(0, |column| self.value(column)) * sign)
    }

    const fn value(&self, column: InvocationSort) -> i64 {
        match column {
            InvocationSort::CreatedAt => self.started_at,
            InvocationSort::DurationMs => self.duration_ms,
            InvocationSort::Succeeded => self.succeeded,
        }
    }
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

const fn name(column: InvocationSort) -> &'static str {
    match column {
        InvocationSort::CreatedAt => "created_at",
        InvocationSort::DurationMs => "duration_ms",
        InvocationSort::Succeeded => "succeeded",
    }
}

const fn sign(direction: Direction) -> i64 {
    match direction {
        Direction::Ascending => 1,
        Direction::Descending => -1,
    }
}
