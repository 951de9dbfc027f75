//! Searches in the query language of FTS5.

use crate::store::database::{Phrase, Statement, TextSearch, Window};

/// The index has no texts of its own, so that it is told the words that it removes.
pub(super) const UNINDEX: &str =
    "INSERT INTO inv_text (inv_text, rowid, scope, output, exception_message, exception_type,
        exception_stack_trace, inputs)
    SELECT 'delete', rowid, scope, output, exception_message, exception_type, exception_stack_trace, inputs
    FROM {records $1 rowid INTEGER, scope TEXT, output TEXT, exception_message TEXT, exception_type TEXT, \
        exception_stack_trace TEXT, inputs TEXT} i";

/// Adds the rows that are in the window and match the search, as the table `t`, newest first.
pub(super) fn add_matches(statement: &mut Statement, search: &TextSearch, window: &Window) {
    let phrases: Vec<_> = search.phrases.iter().map(quoted).collect();
    let columns: Vec<_> = search.columns.iter().copied().collect();
    let (columns, phrases) = (columns.join(" "), phrases.join(" AND "));
    let words = format!("scope : {} AND {{{columns}}} : ({phrases})", search.scope);
    statement.bind("(SELECT rowid FROM inv_text WHERE inv_text MATCH ?", words);
    statement.bind(" AND rowid < ?) t", window.before);
}

/// Words have no quotes.
fn quoted(phrase: &Phrase) -> String {
    let star = if phrase.is_prefix { "*" } else { "" };
    format!("\"{}\"{star}", phrase.words)
}
