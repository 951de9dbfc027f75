//! Listing the history of runs.

use super::dialect::Row;
use super::filters::{Filters, filtered};
use super::listing::Listing;
use super::record_pages::{Found, fitting, short_columns, whole};
use super::row::{get, signed};
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::history::{InvocationFilter, InvocationSort};
use crate::invocation::Invocation;
use crate::page::{Direction, Page, Slice};
use crate::store::Store;

/// One list for every pair of a leading condition, which decides the index that is walked, and an order with the
/// condition that a record stands behind the last one of the page before: started at `$8`, with the id `$9`.
macro_rules! list {
    ($leading:expr, $behind:expr, $order:expr) => {
        concat!(
            "SELECT ",
            short_columns!(),
            " FROM inv_started s
            LEFT JOIN inv_finished f ON f.invocation = s.invocation
            LEFT JOIN inv_unlinked u ON u.invocation = s.invocation
            WHERE s.organization = $1 ",
            $leading,
            filtered!(),
            $behind,
            "ORDER BY ",
            $order,
            "s.started_at DESC, s.invocation DESC LIMIT $10"
        )
    };
}

macro_rules! newest_first {
    ($leading:expr) => {
        list!($leading, "AND (s.started_at, s.invocation) < ($8, $9) ", "")
    };
}

/// What is sorted by, as a column's name and 1 or -1; 0 without a name.
macro_rules! key {
    ($column:literal, $sign:literal) => {
        concat!(
            "(CASE ",
            $column,
            " WHEN 'created_at' THEN s.started_at WHEN 'duration_ms' THEN f.duration_ms
                WHEN 'succeeded' THEN f.succeeded ELSE 0 END * ",
            $sign,
            ")"
        )
    };
}

macro_rules! keys {
    () => {
        concat!(key!("$11", "$12"), ", ", key!("$13", "$14"), ", ", key!("$15", "$16"))
    };
}

/// The last record's keys are `$17` to `$19`.
macro_rules! sorted {
    ($leading:expr) => {
        list!(
            $leading,
            concat!(
                "AND ((",
                keys!(),
                ") > ($17, $18, $19) OR ((",
                keys!(),
                ") = ($17, $18, $19) AND (s.started_at, s.invocation) < ($8, $9))) "
            ),
            concat!(keys!(), ", ")
        )
    };
}

macro_rules! of_conversations {
    () => {
        concat!("AND s.conversation_id IN ", members_of!("$4"))
    };
}

macro_rules! of_tools {
    () => {
        concat!("AND s.tool IN (SELECT value ->> 0 FROM ", rows_of!("$2"), ")")
    };
}

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
        let mut listing = self.listing(organization).await?;
        let last = self.last_invocation(&mut listing, organization, page, &orders).await?;
        let filters = Filters::of(&mut listing, organization, filter).await?;
        let query = filters.bound_to(statement(filter), organization.as_str().to_owned());
        let mut query = query.bind(last.started_at).bind(last.invocation).bind(i64::from(page.limit) + 1);
        if !filter.sort.is_empty() {
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
            return Ok(Last { started_at: i64::MAX, invocation: String::new(), keys: [i64::MIN; KEYS] });
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

fn statement(filter: &InvocationFilter) -> &'static str {
    let (conversations, tools) = (!filter.conversation_ids.is_empty(), !filter.tools.is_empty());
    match (conversations, tools, filter.sort.is_empty()) {
        (true, _, true) => newest_first!(of_conversations!()),
        (true, _, false) => sorted!(of_conversations!()),
        (false, true, true) => newest_first!(of_tools!()),
        (false, true, false) => sorted!(of_tools!()),
        (false, false, true) => newest_first!(""),
        (false, false, false) => sorted!(""),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ToolSelection;
    use crate::ids::ToolId;
    use crate::store::sql::plans::plan;

    #[tokio::test]
    async fn no_filter_is_made_anew_for_each_record() {
        let tools = vec![ToolSelection { tool: ToolId::new(&crate::clock::Clock::system()), versions: None }];
        let sort = vec![(InvocationSort::DurationMs, Direction::Descending)];
        let any = InvocationFilter::default();
        for filter in [
            any.clone(),
            InvocationFilter { sort: sort.clone(), ..any.clone() },
            InvocationFilter { tools: tools.clone(), ..any.clone() },
            InvocationFilter { tools, sort: sort.clone(), ..any.clone() },
            InvocationFilter { conversation_ids: vec!["c".into()], ..any.clone() },
            InvocationFilter { conversation_ids: vec!["c".into()], sort, ..any },
        ] {
            let steps = plan(statement(&filter)).await;
            assert!(!steps.iter().any(|step| step.starts_with("CORRELATED")), "{filter:?}: {steps:?}");
        }
    }
}
