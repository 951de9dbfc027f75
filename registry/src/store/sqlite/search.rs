//! Searches in the query language of FTS5.

use crate::store::database::{Phrase, Statement, TextSearch, Window};

/// Adds the rows that are in the window and match the search, as the table `t`, newest first.
pub(super) fn add_matches(statement: &mut Statement, search: &TextSearch, window: &Window) {
    let phrases: Vec<_> = search.phrases.iter().map(|phrase| quote(search, phrase)).collect();
    let columns: Vec<_> = search.columns.iter().copied().collect();
    let mut query = format!("{{{}}} : ({})", columns.join(" "), phrases.join(" AND "));
    for facets in &search.facets {
        let facets: Vec<_> = facets.iter().flat_map(|facet| search.in_scope(facet)).collect();
        query.push_str(&format!(" AND facets : ({})", facets.join(" OR ")));
    }
    statement.bind("(SELECT rowid FROM inv_text WHERE inv_text MATCH ?", query);
    statement.bind(" AND rowid < ?) t", window.before);
}

/// Words have no quotes.
fn quote(search: &TextSearch, phrase: &Phrase) -> String {
    let words: Vec<_> = search.in_scope(&phrase.words).collect();
    let star = if phrase.is_prefix { "*" } else { "" };
    format!("\"{}\"{star}", words.join(" "))
}
