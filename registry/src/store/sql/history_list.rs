//! Listing the history of runs.

use super::dialect::Row;
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
use crate::store::Store;

const LAST: &str = "SELECT s.invocation, s.started_at, f.duration_ms, f.succeeded FROM inv_finished f
    JOIN inv_started s ON s.invocation = f.invocation
    WHERE f.organization = $1 AND f.sequence = $2";

/// Columns to sort by; there are no more.
const KEYS: usize = 3;

/// The last record of the page before.
struct Last {
    started_at: i64,
    invocation: String,
    keys: [i64; KEYS],
}

impl Store {
    /// Lists records of runs that have ended, newest first unless sorted otherwise. [`Error::PageTokenUnknown`] when
    /// the page's token is not one of this organisation's history.
    pub async fn list_invocations(
        &self,
        organization: &OrganizationId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Slice<Invocation>> {
        let orders = orders(&filter.sort);
        let (statement, has_keys) = statement(filter);
        self.settle().await;
        let mut listing = self.listing(organization).await?;
        let last = self.last_invocation(&mut listing, organization, page, &orders).await?;
        let filters = Filters::of(&mut listing, organization, filter).await?;
        let query = filters.bound_to(statement, organization.as_str().to_owned());
        let mut query = query.bind(last.started_at).bind(last.invocation).bind(i64::from(page.limit) + 1);
        if has_keys {
            query = orders.iter().fold(query, |query, (column, sign)| query.bind(column.map(name)).bind(*sign));
            query = last.keys.iter().fold(query, |query, key| query.bind(*key));
        }
        let found = listing.rows(query).await?.iter().map(Found::read).collect::<Result<Vec<_>>>()?;
        let fitting = fitting(&found);
        let token = |last: &Found| self.page_tokens().seal(&list_of(organization), last.sequence);
        let Slice { items, next } = Slice::cut_to(found, fitting, page, token);
        Ok(Slice { items: whole(&mut listing, organization, &items).await?, next })
    }

    async fn last_invocation(
        &self,
        listing: &mut Listing,
        organization: &OrganizationId,
        page: Page,
        orders: &Orders,
    ) -> Result<Last> {
        if page.is_first() {
            return Ok(Last { started_at: i64::MAX, invocation: String::new(), keys: [-i64::MAX; KEYS] });
        }
        let sequence = self.page_tokens().open(&list_of(organization), page.token).ok_or(Error::PageTokenUnknown)?;
        let query = sqlx::query(LAST).bind(organization.as_str()).bind(signed(sequence));
        let row = listing.row(query).await?.ok_or(Error::PageTokenUnknown)?;
        let mut keys = [0; KEYS];
        for (key, (column, sign)) in keys.iter_mut().zip(orders) {
            *key = column.map_or(Ok(0), |column| value(&row, column))? * sign;
        }
        Ok(Last { started_at: get(&row, "started_at")?, invocation: get(&row, "invocation")?, keys })
    }
}

fn list_of(organization: &OrganizationId) -> [&str; 2] {
    ["history", organization.as_str()]
}

type Orders = [(Option<InvocationSort>, i64); KEYS];

/// The first mention of each column counts; a second one cannot change the order any more.
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

fn value(row: &Row, column: InvocationSort) -> Result<i64> {
    match column {
        InvocationSort::CreatedAt => get(row, "started_at"),
        InvocationSort::DurationMs => get(row, "duration_ms"),
        InvocationSort::Succeeded => get(row, "succeeded"),
    }
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
