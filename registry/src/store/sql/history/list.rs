//! Listing the history of runs.

use super::effect_spans::Spans;
use super::filters::{Filters, refuse_nul_in};
use super::handle::History;
use super::list_parts::ListPart;
use super::list_start::ListStart;
use super::order::{LAST, Order};
use super::record_pages::{FoundRecord, SHORT_COLUMNS, fit_page, read_whole};
use crate::error::{Error, Result};
use crate::history::{Record, RunFilter};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::kit::page::{Page, Slice};
use crate::store::database::{Query, Row, Statement};
use crate::store::page_tokens::filter_name;
use crate::store::sql::kit::listing::Listing;
use crate::store::sql::kit::row::{get, to_signed};

impl History {
    /// Lists records, by default of ended runs, newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_invocations(
        &self,
        organization: &OrganizationId,
        filter: &RunFilter,
        page: Page,
    ) -> Result<Slice<Record>> {
        refuse_nul_in(filter)?;
        let mut listing = self.store.open_listing(organization).await?;
        let filter_name = filter_name(filter);
        let list_names = ["history", organization.as_str(), &filter_name];
        let mut last = self.find_last_invocation(&mut listing, organization, &list_names, page).await?;
        let mut parts = ListPart::look_up_all(&mut listing, organization, filter).await?;
        if let (Some(last), true) = (&last, parts.len() > 1) {
            let first = find_first_part(&parts, last)?.ok_or(Error::PageTokenUnknown)?;
            parts.drain(..first);
        }
        let mut records = Records { organization, found: Vec::new(), wanted: page.limit as usize + 1 };
        for part in &parts {
            records.read_part(&mut listing, part, last.take().as_ref()).await?;
            if records.are_complete() {
                break;
            }
        }
        let found = records.found;
        let page = fit_page(&found, page);
        let token = |last: &FoundRecord| self.store.page_tokens().seal(&list_names, last.position);
        let Slice { items, next } = Slice::cut(found, page, token);
        Ok(Slice { items: read_whole(&mut listing, organization, &items).await?, next })
    }

    async fn find_last_invocation(
        &self,
        listing: &mut Listing,
        organization: &OrganizationId,
        list_names: &[&str],
        page: Page,
    ) -> Result<Option<Row>> {
        if page.is_first() {
            return Ok(None);
        }
        let position = self.store.page_tokens().open(list_names, page.token).ok_or(Error::PageTokenUnknown)?;
        let query = Query::new(LAST).bind(organization.as_str()).bind(to_signed(position));
        Ok(Some(listing.row(query).await?.ok_or(Error::PageTokenUnknown)?))
    }
}

/// Returns the position of the part that has a record.
fn find_first_part(parts: &[ListPart], last: &Row) -> Result<Option<usize>> {
    for (position, part) in parts.iter().enumerate() {
        if part.has(last)? {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

/// The records of a page, while its list is read.
struct Records<'a> {
    organization: &'a OrganizationId,
    found: Vec<FoundRecord>,
    /// The number of records at which reading ends.
    wanted: usize,
}

impl Records<'_> {
    const fn are_complete(&self) -> bool {
        self.found.len() == self.wanted
    }

    /// Reads the records of a part that come after the last one, until there are as many as wanted.
    async fn read_part(&mut self, listing: &mut Listing, part: &ListPart, last: Option<&Row>) -> Result<()> {
        let (organization, ListPart { filter, start, .. }) = (self.organization, part);
        let order = Order::of(filter, start);
        let mut spans = build_spans(filter, start, &order, last)?;
        while let Some(filter) = spans.next(listing, organization).await? {
            let mut statement = begin_statement(organization, &filter, start)?;
            let rest = start.build_rest(&filter);
            Filters::look_up(listing, organization, &rest).await?.add(&mut statement)?;
            add_order(&mut statement, &order, last)?;
            statement.bind(" LIMIT ?", to_signed((self.wanted - self.found.len()) as u64));
            let rows = listing.rows(statement.query()).await?;
            self.found.extend(rows.iter().map(FoundRecord::read).collect::<Result<Vec<_>>>()?);
            if self.are_complete() {
                break;
            }
        }
        Ok(())
    }
}

/// The spans in which a list is read that comes after a record. A list that is not in order of age is read at once.
pub(in crate::store) fn build_spans(
    filter: &RunFilter,
    start: &ListStart,
    order: &Order,
    last: Option<&Row>,
) -> Result<Spans> {
    if !order.keys.is_empty() {
        return Ok(Spans::one(filter));
    }
    // The records of the same millisecond, too.
    let before = last.map(|last| get::<i64>(last, "started_at")).transpose()?;
    let before = before.map(|last| Timestamp::from_milliseconds(last.saturating_add(1)));
    Ok(Spans::of_start(filter, start, before))
}

/// Returns the statement up to the condition for the organisation, its `$1`.
pub(in crate::store) fn begin_statement(
    organization: &OrganizationId,
    filter: &RunFilter,
    start: &ListStart,
) -> Result<Statement> {
    let mut statement = begin_statement_of(organization, "");
    start.add(&mut statement, filter)?;
    Ok(statement)
}

/// Returns the statement up to its tables, and up to its conditions if these are part of the text.
pub fn begin_statement_of(organization: &OrganizationId, tables: &str) -> Statement {
    let mut statement = Statement::with(organization.as_str());
    statement.push("SELECT s.rowid AS position, ");
    statement.push(SHORT_COLUMNS);
    statement.push(" FROM ");
    statement.push(tables);
    statement
}

/// Adds the condition that a record comes after the last one, and the order.
pub(in crate::store) fn add_order(statement: &mut Statement, order: &Order, last: Option<&Row>) -> Result<()> {
    if let Some(last) = last {
        add_behind(statement, order, last)?;
    }
    statement.push(" ORDER BY ");
    for key in &order.keys {
        statement.push(&key.order());
    }
    statement.push(&format!("{} DESC, {} DESC", order.started_at, order.invocation));
    Ok(())
}

/// Adds nested conditions: a record has a later value under a key, or the same and comes later under the next keys.
fn add_behind(statement: &mut Statement, order: &Order, last: &Row) -> Result<()> {
    let Order { keys, started_at, invocation } = order;
    let (last_started_at, last_invocation) = (get::<i64>(last, "started_at")?, get::<&str>(last, "invocation")?);
    // A bound of its own, for which planners use an index.
    match keys.first() {
        Some(first) => statement.bind(&format!(" AND {} ?", first.not_before()), first.value(last)?),
        None => statement.bind(&format!(" AND {started_at} <= ?"), last_started_at),
    }
    statement.push(" AND (");
    for key in keys {
        let condition = format!("{} ? OR ({} = ? AND (", key.after(), key.column());
        statement.bind(&condition, key.value(last)?);
    }
    statement.bind(&format!("{started_at} < ? OR ({started_at} = ?"), last_started_at);
    statement.bind(&format!(" AND {invocation} < ?)"), last_invocation);
    statement.push(&"))".repeat(keys.len()));
    statement.push(")");
    Ok(())
}
