//! Full-text search over the outcomes and the inputs of runs. Any text is a valid search: every word is quoted, so none is
//! syntax, except for a `*` at the end of a word.

use std::collections::BTreeSet;

use super::filters::{Filters, filtered};
use super::record_pages::{Found, fitting_page, short_columns, whole};
use super::row::signed;
use super::search_columns::scope;
use super::search_text::searchable;
use crate::account::OrganizationId;
use crate::error::{Error, Result};
use crate::history::{SearchField, SearchQuery, SearchTerm};
use crate::page::{Page, Slice};
use crate::record::Record;
use crate::store::handle::Store;

/// Cross joins fix the order: the full-text index comes first and is queried once. SQLite's planner may otherwise begin with
/// the records and query the index once for each.
const SEARCH: &str = concat!(
    "SELECT ",
    short_columns!("f.sequence"),
    " FROM inv_text t
    CROSS JOIN inv_finished f
    CROSS JOIN inv_started s
    LEFT JOIN inv_unlinked u ON u.invocation = s.invocation
    WHERE inv_text MATCH $1 AND t.rowid < $14 AND f.sequence = t.rowid AND s.invocation = f.invocation
        AND s.organization = $13 ",
    filtered!("$13"),
    "ORDER BY t.rowid DESC LIMIT $15"
);

impl Store {
    /// Finds the records whose fields together contain all words of the text, last ended first. A page has no more bytes than
    /// a page of a list. [`Error::PageTokenUnknown`] for a token of another search or list.
    pub async fn search_invocations(
        &self,
        organization: &OrganizationId,
        query: &SearchQuery,
        page: Page,
    ) -> Result<Slice<Record>> {
        let last = self.last_found(organization, page)?;
        let Some(expression) = expression(organization, query) else {
            return Ok(Slice { items: Vec::new(), next: None });
        };
        let mut listing = self.listing(organization).await?;
        let filters = Filters::of(&mut listing, organization, &query.filter).await?;
        let statement = filters.bound_to(SEARCH, expression).bind(organization.to_string());
        let statement = statement.bind(last).bind(i64::from(page.limit) + 1);
        let found = listing.rows(statement).await?.iter().map(Found::read).collect::<Result<Vec<_>>>()?;
        let page = fitting_page(&found, page);
        let token = |last: &Found| self.page_tokens().seal(&list_of(organization), last.position);
        let Slice { items, next } = Slice::cut(found, page, token);
        Ok(Slice { items: whole(&mut listing, organization, &items).await?, next })
    }

    /// Returns the position of the last record of the previous page. Positions descend.
    fn last_found(&self, organization: &OrganizationId, page: Page) -> Result<i64> {
        if page.is_first() {
            return Ok(i64::MAX);
        }
        self.page_tokens().open(&list_of(organization), page.token).map(signed).ok_or(Error::PageTokenUnknown)
    }
}

fn list_of(organization: &OrganizationId) -> [&str; 2] {
    ["search", organization.as_str()]
}

/// Returns the search in the query language of FTS5, or `None` for a text without words. Words are joined with a space and
/// not with `AND`: FTS5 then ignores a term without indexable characters, instead of finding no record for it.
fn expression(organization: &OrganizationId, query: &SearchQuery) -> Option<String> {
    let terms: Vec<String> = query.text.terms().iter().map(quoted).collect();
    let columns = columns(&query.fields);
    let scope = scope(organization);
    (!terms.is_empty()).then(|| format!("scope : {scope} AND {{{columns}}} : ({})", terms.join(" ")))
}

fn quoted(term: &SearchTerm) -> String {
    let star = if term.is_prefix { "*" } else { "" };
    format!("\"{}\"{star}", searchable(&term.text).replace('"', "\"\""))
}

fn columns(fields: &[SearchField]) -> String {
    const RESULT: [SearchField; 4] = [
        SearchField::Output,
        SearchField::ExceptionMessage,
        SearchField::ExceptionType,
        SearchField::ExceptionStackTrace,
    ];
    let wanted = if fields.is_empty() { &RESULT[..] } else { fields };
    let names: BTreeSet<&str> = wanted.iter().copied().map(column).collect();
    names.into_iter().collect::<Vec<_>>().join(" ")
}

const fn column(field: SearchField) -> &'static str {
    match field {
        SearchField::Output => "output",
        SearchField::ExceptionMessage => "exception_message",
        SearchField::ExceptionType => "exception_type",
        SearchField::ExceptionStackTrace => "exception_stack_trace",
        SearchField::Inputs => "inputs",
    }
}

#[cfg(test)]
mod tests {
    use super::SEARCH;
    use crate::store::sql::plans::plan;

    #[tokio::test]
    async fn the_full_text_index_comes_first_and_is_queried_once() {
        let steps = plan(SEARCH).await.unwrap();
        assert!(steps[0].starts_with("SCAN t VIRTUAL TABLE INDEX"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY")), "no sorting: {steps:?}");
        assert_eq!(steps.iter().filter(|step| step.contains("VIRTUAL TABLE") && step.contains(" t ")).count(), 1);
        for found_by in ["SEARCH f USING INTEGER PRIMARY KEY", "SEARCH s USING INDEX sqlite_autoindex_inv_started"] {
            assert!(steps.iter().any(|step| step.starts_with(found_by)), "{found_by}: {steps:?}");
        }
    }
}
