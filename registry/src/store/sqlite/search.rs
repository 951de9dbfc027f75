//! Searches in the query language of FTS5.

use crate::store::database::{Phrase, Statement, TextSearch};

/// The index has no texts of its own, so that it is told the words that it removes.
pub(super) const UNINDEX: &str =
    "INSERT INTO inv_text (inv_text, rowid, scope, output, exception_message, exception_type,
        exception_stack_trace, inputs)
    SELECT 'delete', rowid, scope, output, exception_message, exception_type, exception_stack_trace, inputs
    FROM {records $1 rowid INTEGER, scope TEXT, output TEXT, exception_message TEXT, exception_type TEXT, \
        exception_stack_trace TEXT, inputs TEXT} i";

/// Adds the condition that a row of the full-text index, `t`, matches a search.
pub(super) fn matching(statement: &mut Statement, search: &TextSearch) {
    let phrases: Vec<_> = search.phrases.iter().map(quoted).collect();
    let columns: Vec<_> = search.columns.iter().copied().collect();
    let (columns, phrases) = (columns.join(" "), phrases.join(" AND "));
    statement.bind(" AND inv_text MATCH ?", format!("scope : {} AND {{{columns}}} : ({phrases})", search.scope));
}

/// Words have no quotes.
fn quoted(phrase: &Phrase) -> String {
    let star = if phrase.is_prefix { "*" } else { "" };
    format!("\"{}\"{star}", phrase.words)
}
