//! Full-text search over what runs answered. Any text is a valid search: every word is quoted, none is syntax.

use std::collections::BTreeSet;

use super::filters::{Filters, filtered};
use super::record_pages::{Found, fitting, short_columns, whole};
use super::recorder::Recorder;
use crate::account::OrganizationId;
use crate::error::Result;
use crate::history::{InvocationFilter, SEARCH_RESULTS_MAX, SearchField, SearchQuery};
use crate::invocation::{Invocation, InvocationOutcome};
use crate::store::Store;

/// Bytes of a field that can be found; what a tool answers is bounded below it, what it throws may not be.
const FIELD_BYTES_MAX: usize = 256 * 1024;

const INDEX: &str = "INSERT INTO inv_text
        (rowid, scope, output, exception_message, exception_type, exception_stack_trace)
    VALUES ($1, $2, $3, $4, $5, $6)";

/// The joins keep their order: the index of words leads, and is asked once. Left to itself the planner may begin with
/// the records and ask it once for each.
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
    /// Finds the records that have all words of the text in the fields together; at most
    /// [`SEARCH_RESULTS_MAX`] and as many as a page has room for, those that ended last first.
    pub async fn search_invocations(
        &self,
        organization: &OrganizationId,
        query: &SearchQuery,
        filter: &InvocationFilter,
    ) -> Result<Vec<Invocation>> {
        let Some(expression) = expression(organization, query) else {
            return Ok(Vec::new());
        };
        self.settle().await;
        let mut listing = self.listing(organization).await?;
        let filters = Filters::of(&mut listing, organization, filter).await?;
        let statement = filters.bound_to(SEARCH, expression);
        let statement = statement.bind(organization.to_string()).bind(SEARCH_RESULTS_MAX);
        let found = listing.rows(statement).await?.iter().map(Found::read).collect::<Result<Vec<_>>>()?;
        whole(&mut listing, organization, &found[..fitting(&found)]).await
    }
}

/// Makes a finished record findable.
pub(super) fn index(
    recorder: &Recorder<'_>,
    sequence: i64,
    organization: &OrganizationId,
    outcome: &InvocationOutcome,
) -> Result<()> {
    let [output, message, kind, trace] = match outcome {
        InvocationOutcome::Succeeded { output } => [Some(searchable(output)), None, None, None],
        InvocationOutcome::Failed { exception_type, exception_message, exception_stack_trace } => [
            None,
            Some(searchable(exception_message)),
            Some(searchable(exception_type)),
            Some(searchable(&exception_stack_trace.join("\n"))),
        ],
    };
    recorder.execute(INDEX, &[&sequence, &scope(organization), &output, &message, &kind, &trace]).map(drop)
}

/// The one word of the `scope` column: an organisation's rows are found through the index, not sifted afterwards.
fn scope(organization: &OrganizationId) -> String {
    format!("o{}", hex::encode(organization.as_str()))
}

/// The text as the index takes it: a NUL would end it, so its picture stands in.
fn searchable(text: &str) -> String {
    text[..text.floor_char_boundary(FIELD_BYTES_MAX)].replace('\0', "\u{2400}")
}

/// The search in the index's own language, or `None` when the text has no word in it. Between words stands a space and
/// no `AND`: a sign that the index does not know, which only the index can tell, then counts as nothing and not as a
/// word that no record has.
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
    async fn the_index_of_words_leads_and_is_asked_once() {
        let steps = plan(SEARCH).await.unwrap();
        assert!(steps[0].starts_with("SCAN t VIRTUAL TABLE INDEX"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY")), "found in their order: {steps:?}");
        assert_eq!(steps.iter().filter(|step| step.contains("VIRTUAL TABLE") && step.contains(" t ")).count(), 1);
        for found_by in ["SEARCH f USING INTEGER PRIMARY KEY", "SEARCH s USING INDEX sqlite_autoindex_inv_started"] {
            assert!(steps.iter().any(|step| step.starts_with(found_by)), "{found_by}: {steps:?}");
        }
    }
}
