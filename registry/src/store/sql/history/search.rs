//! Full-text search over the outcomes and the inputs of runs. Any text is a valid search: no word is syntax, except for a `*`
//! at the end of a word.

use super::filters::Filters;
use super::handle::History;
use super::record_pages::{FoundRecord, SHORT_COLUMNS, fit_page, read_whole};
use super::search_windows::Windows;
use super::text_search::build_text_search;
use crate::error::Result;
use crate::history::{Record, SearchQuery};
use crate::kit::account::OrganizationId;
use crate::kit::page::{Page, Slice};
use crate::store::database::{Database, Statement, TextSearch, Window};
use crate::store::page_tokens::filter_name;
use crate::store::sql::kit::row::to_signed;

/// Cross joins fix the order: the full-text index comes first and is queried once. A planner may otherwise begin with the
/// records and query the index once for each.
const OF_MATCHES: &str = " CROSS JOIN inv_finished f CROSS JOIN inv_started s
    LEFT JOIN inv_unlinked u ON u.invocation = s.invocation
    WHERE f.sequence = t.rowid AND s.invocation = f.invocation AND s.organization = $1";

/// The highest position of a record that has ended, of all organisations: `$1` is not compared. Positions descend in a search.
const MOST: &str = "SELECT coalesce(max(sequence), 0) AS most FROM inv_finished WHERE $1 <> ''";

impl History {
    /// Finds the records whose fields together contain all words of the text, last ended first. A page has no more bytes than
    /// a page of a list. [`Error::PageTokenUnknown`] for a token of another search or list.
    pub async fn search_invocations(
        &self,
        organization: &OrganizationId,
        query: &SearchQuery,
        page: Page,
    ) -> Result<Slice<Record>> {
        let filter_name = filter_name(query);
        let list_names = ["search", organization.as_str(), &filter_name];
        let last = self.store.find_last_shown(organization, &list_names, page, MOST).await?.map_or(i64::MAX, to_signed);
        let Some(search) = build_text_search(organization, query, self.store.0.clock.now()) else {
            return Ok(Slice { items: Vec::new(), next: None });
        };
        let mut listing = self.store.open_listing(organization).await?;
        let filters = Filters::look_up(&mut listing, organization, &query.filter).await?;
        let (database, before) = (&*self.store.0.database, query.filter.created_before);
        let mut windows = Windows::before(last, database, &mut listing, organization, before).await?;
        let mut found: Vec<FoundRecord> = Vec::new();
        let wanted = page.limit as usize + 1;
        while let Some(window) = windows.read_next() {
            let mut statement = begin_statement(database, organization, &search, &window);
            filters.add(&mut statement)?;
            let left = wanted - found.len();
            statement.bind(" ORDER BY t.rowid DESC LIMIT ?", to_signed(left as u64));
            let rows = listing.rows(statement.query()).await?;
            found.extend(rows.iter().map(FoundRecord::read).collect::<Result<Vec<_>>>()?);
            if rows.len() == left {
                break;
            }
            windows.adapt(rows.len(), left - rows.len());
        }
        let page = fit_page(&found, page);
        let token = |last: &FoundRecord| self.store.page_tokens().seal(&list_names, last.position);
        let Slice { items, next } = Slice::cut(found, page, token);
        Ok(Slice { items: read_whole(&mut listing, organization, &items).await?, next })
    }
}

/// Returns the statement up to the conditions. Its `$1` is the organisation.
pub(in crate::store) fn begin_statement(
    database: &dyn Database,
    organization: &OrganizationId,
    search: &TextSearch,
    window: &Window,
) -> Statement {
    let mut statement = Statement::with(organization.as_str());
    statement.push("SELECT t.rowid AS position, ");
    statement.push(SHORT_COLUMNS);
    statement.push(" FROM ");
    database.add_matches(&mut statement, search, window);
    statement.push(OF_MATCHES);
    statement
}
