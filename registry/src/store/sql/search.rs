//! Full-text search over the outcomes of runs. Any text is a valid search: every word is quoted, so none is syntax.

use std::collections::BTreeSet;

use super::filters::{Filters, filtered};
use super::record_event::EndRow;
use super::record_pages::{Found, fitting, short_columns, whole};
use super::recorder::Recorder;
use crate::account::OrganizationId;
use crate::error::Result;
use crate::history::{InvocationFilter, SEARCH_RESULTS_MAX, SearchField, SearchQuery};
use crate::invocation::{Invocation, InvocationOutcome};
use crate::store::handle::Store;

/// Indexed bytes of a field. Outputs are shorter; exceptions may be longer.
const FIELD_BYTES_MAX: usize = 256 * 1024;

const INDEX: &str = "INSERT INTO inv_text
        (rowid, scope, output, exception_message, exception_type, exception_stack_trace)
    VALUES ($1, $2, $3, $4, $5, $6)";

/// Cross joins fix the order: the full-text index comes first and is queried once. SQLite's planner may otherwise begin with
/// the records and query the index once for each.
const SEARCH: &str = concat!(
    "SELECT ",
    short_columns!(),
    " FROM inv_text t
    CROSS JOIN inv_finished f
    CROSS JOIN inv_started s
    LEFT JOIN inv_unlinked u ON u.invocation = s.invocation
    WHERE inv_text MATCH $1 AND f.sequence = t.rowid AND s.invocation = f.invocation AND s.organization = $9 ",
    filtered!("$9"),
    "ORDER BY t.rowid DESC LIMIT $10"
);

impl Store {
    /// Finds the records whose fields together contain all words of the text, last ended first. Returns at most
    /// [`SEARCH_RESULTS_MAX`] records, and no more bytes than fit a page.
    pub async fn search_invocations(
        &self,
        organization: &OrganizationId,
        query: &SearchQuery,
        filter: &InvocationFilter,
    ) -> Result<Vec<Invocation>> {
        let Some(expression) = expression(organization, query) else {
            return Ok(Vec::new());
        };
        self.wait_for_records().await;
        let mut listing = self.listing(organization).await?;
        let filters = Filters::of(&mut listing, organization, filter).await?;
        let statement = filters.bound_to(SEARCH, expression);
        let statement = statement.bind(organization.to_string()).bind(SEARCH_RESULTS_MAX);
        let found = listing.rows(statement).await?.iter().map(Found::read).collect::<Result<Vec<_>>>()?;
        whole(&mut listing, organization, &found[..fitting(&found)]).await
    }
}

/// Adds the end of a run to the full-text index.
pub(super) fn index(recorder: &Recorder, sequence: i64, end: &EndRow) -> Result<()> {
    let [output, message, kind, trace] = match &end.outcome {
        InvocationOutcome::Succeeded { output } => [Some(searchable(output)), None, None, None],
        InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => [
            None,
            Some(searchable(exception_message)),
            Some(searchable(exception_type)),
            Some(searchable(&exception_stack_trace.join("\n"))),
        ],
    };
    recorder.execute(INDEX, &[&sequence, &scope(&end.organization), &output, &message, &kind, &trace]).map(drop)
}

/// Returns the word of the `scope` column, by which the index finds the rows of an organisation.
fn scope(organization: &OrganizationId) -> String {
    format!("o{}", hex::encode(organization.as_str()))
}

/// Returns the text for the index. NUL, which would end it, is replaced with its symbol.
fn searchable(text: &str) -> String {
    text[..text.floor_char_boundary(FIELD_BYTES_MAX)].replace('\0', "\u{2400}")
}

/// Returns the search in the query language of FTS5, or `None` for a text without words. Words are joined with a space and
/// not with `AND`: FTS5 then ignores a term without indexable characters, instead of finding no record for it.
fn expression(organization: &OrganizationId, query: &SearchQuery) -> Option<String> {
    let terms: Vec<String> = query.text.words().iter().map(|word| quoted(word)).collect();
    let columns = columns(&query.fields);
    let scope = scope(organization);
    (!terms.is_empty()).then(|| format!("scope : {scope} AND {{{columns}}} : ({})", terms.join(" ")))
}

fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('\0', "\u{2400}").replace('"', "\"\""))
}

fn columns(fields: &[SearchField]) -> String {
    const ALL: [SearchField; 4] = [
        SearchField::Output,
        SearchField::ExceptionMessage,
        SearchField::ExceptionType,
        SearchField::ExceptionStackTrace,
    ];
    let wanted = if fields.is_empty() { &ALL[..] } else { fields };
    let names: BTreeSet<&str> = wanted.iter().copied().map(column).collect();
    names.into_iter().collect::<Vec<_>>().join(" ")
}

const fn column(field: SearchField) -> &'static str {
    match field {
        SearchField::Output => "output",
        SearchField::ExceptionMessage => "exception_message",
        SearchField::ExceptionType => "exception_type",
        SearchField::ExceptionStackTrace => "exception_stack_trace",
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
