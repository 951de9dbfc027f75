//! Listing the history of runs.

use super::filters::add_filters;
use super::history_order::{LAST, SortKey, sort_keys};
use super::listing::Listing;
use super::record_pages::{Found, SHORT_COLUMNS, fitting_page, whole};
use super::row::{get, signed, to_list};
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::history::{InvocationFilter, RunStates, ToolSelection};
use crate::page::{Page, Slice};
use crate::record::Record;
use crate::store::database::{Query, Row, Statement};
use crate::store::handle::Store;

/// Follows the tables of a list.
macro_rules! of_organization {
    ($tables:literal) => {
        concat!($tables, " LEFT JOIN inv_unlinked u ON u.invocation = s.invocation WHERE s.organization = $1")
    };
}

const RECORDS: &str = of_organization!("inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation");

/// The records, through an index that has them in order of age.
const BY_AGE: &str = of_organization!(
    "inv_started s {index inv_started_by_age} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
);

/// The records of one tool, through an index that has them in order of age.
const OF_ONE_TOOL: &str = of_organization!(
    "inv_started s {index inv_started_by_tool} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
);

/// The records of conversations, which are few.
const OF_CONVERSATIONS: &str = concat!(
    of_organization!(
        "(SELECT DISTINCT value AS conversation FROM {members ?} ids) wanted
        CROSS JOIN inv_started s {index inv_started_by_conversation}
        LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND s.conversation_id = wanted.conversation"
);

/// The running runs, which are few.
const RUNNING: &str = concat!(
    of_organization!("inv_open o CROSS JOIN inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"),
    " AND o.organization = $1 AND s.invocation = o.invocation"
);

/// The records that have ended, through an index that has them in order of duration.
const ENDS: &str = concat!(
    of_organization!("inv_finished f {index inv_finished_by_duration} CROSS JOIN inv_started s"),
    " AND f.organization = $1 AND s.invocation = f.invocation"
);

impl Store {
    /// Lists records, by default of ended runs, newest first. [`Error::PageTokenUnknown`] for a token of another list.
    pub async fn list_invocations(
        &self,
        organization: &OrganizationId,
        filter: &InvocationFilter,
        page: Page,
    ) -> Result<Slice<Record>> {
        let mut listing = self.listing(organization).await?;
        let last = self.last_invocation(&mut listing, organization, page).await?;
        let keys = sort_keys(filter);
        let mut statement = beginning(organization, filter, &keys)?;
        add_filters(&mut statement, &mut listing, (organization, filter)).await?;
        add_order(&mut statement, &keys, last.as_ref())?;
        statement.bind(" LIMIT ?", i64::from(page.limit) + 1);
        let found = listing.rows(statement.query()).await?.iter().map(Found::read).collect::<Result<Vec<_>>>()?;
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
    ) -> Result<Option<Row>> {
        if page.is_first() {
            return Ok(None);
        }
        let position = self.page_tokens().open(&list_of(organization), page.token).ok_or(Error::PageTokenUnknown)?;
        let query = Query::new(LAST).bind(organization.as_str()).bind(signed(position));
        Ok(Some(listing.row(query).await?.ok_or(Error::PageTokenUnknown)?))
    }
}

fn list_of(organization: &OrganizationId) -> [&str; 2] {
    ["history", organization.as_str()]
}

/// Returns the statement up to the condition for the organisation, its `$1`. It begins with the table that has the fewest
/// candidates, or that has an index in the wanted order, so that most pages are read without the records after the page.
pub(in crate::store) fn beginning(
    organization: &OrganizationId,
    filter: &InvocationFilter,
    keys: &[SortKey],
) -> Result<Statement> {
    let mut statement = Statement::with(organization.as_str());
    statement.push("SELECT s.rowid AS position, ");
    statement.push(SHORT_COLUMNS);
    statement.push(" FROM ");
    let tools = filter.tools.as_slice();
    let one_tool = tools.first().filter(|first| tools.iter().all(|other| other.tool == first.tool));
    let is_by_duration = keys.first().is_some_and(SortKey::is_of_ends);
    if filter.states == RunStates::Running {
        statement.push(RUNNING);
    } else if let Some(list) = to_list(&filter.conversation_ids)? {
        statement.bind(OF_CONVERSATIONS, list);
    } else if let Some(ToolSelection { tool, .. }) = one_tool {
        statement.push(OF_ONE_TOOL);
        statement.bind(" AND s.tool = ?", tool.as_str());
    } else if tools.is_empty() && is_by_duration {
        statement.push(ENDS);
    } else if keys.first().is_none_or(SortKey::is_age) {
        statement.push(BY_AGE);
    } else {
        statement.push(RECORDS);
    }
    Ok(statement)
}

/// Adds the condition that a record comes after the last one, and the order.
pub(in crate::store) fn add_order(statement: &mut Statement, keys: &[SortKey], last: Option<&Row>) -> Result<()> {
    if let Some(last) = last {
        add_behind(statement, keys, last)?;
    }
    statement.push(" ORDER BY ");
    for key in keys {
        statement.push(&key.order());
    }
    statement.push("s.started_at DESC, s.invocation DESC");
    Ok(())
}

/// Adds nested conditions: a record has a later value under a key, or the same and comes later under the next keys.
fn add_behind(statement: &mut Statement, keys: &[SortKey], last: &Row) -> Result<()> {
    // A bound of its own, for which planners use an index.
    match keys.first() {
        Some(first) => statement.bind(&format!(" AND {} ?", first.not_before()), first.value(last)?),
        None => statement.bind(" AND s.started_at <= ?", get::<i64>(last, "started_at")?),
    }
    statement.push(" AND (");
    for key in keys {
        let condition = format!("{} ? OR ({} = ? AND (", key.after(), key.column());
        statement.bind(&condition, key.value(last)?);
    }
    statement.bind("s.started_at < ? OR (s.started_at = ?", get::<i64>(last, "started_at")?);
    statement.bind(" AND s.invocation < ?)", get::<&str>(last, "invocation")?);
    statement.push(&"))".repeat(keys.len()));
    statement.push(")");
    Ok(())
}
