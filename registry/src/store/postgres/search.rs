//! Searches as conditions on the words of each column.

use crate::store::database::{Block, Phrase, Statement, TextSearch, Window};

/// The rows of a window that are read to find the beginning of a word. In the index it is found with all of its rows, of all windows.
const ROWS_READ_MAX: i64 = 1 << 15;

/// Adds the rows that are in the window and match the search, as the table `t`, newest first. Planners read a table with an
/// offset by itself: for a page of the whole search they may rather separate the words of each row, newest first.
pub(super) fn add_matches(statement: &mut Statement, search: &TextSearch, window: &Window) {
    statement.bind("(SELECT m.rowid FROM inv_text m WHERE m.rowid < ?", window.before);
    let name = |block: &Block| format!("{}/{}/{}", search.scope, block.size, block.number);
    let blocks: Vec<_> = window.blocks.iter().map(name).collect();
    statement.bind(" AND lathe_blocks(m.scope, m.rowid) && CAST(? AS TEXT[])", format!("{{{}}}", blocks.join(",")));
    for facets in &search.facets {
        let facets: Vec<_> = facets.iter().flat_map(|facet| search.in_scope(facet)).collect();
        let query = format!("'{}'", facets.join("' | '"));
        statement.bind(" AND lathe_words(m.scope, m.facets) @@ CAST(? AS TSQUERY)", query);
    }
    for phrase in &search.phrases {
        let is_read = phrase.is_prefix && window.rows <= ROWS_READ_MAX;
        let add = if is_read { add_text } else { add_words };
        let mut before = " AND ((";
        for column in &search.columns {
            statement.push(before);
            add(statement, column, (search, phrase));
            before = ") OR (";
        }
        statement.push("))");
    }
    statement.push(" ORDER BY m.rowid DESC OFFSET 0) t");
}

/// The index finds the rows with all words, and the text has them in their order.
fn add_words(statement: &mut Statement, column: &str, of: (&TextSearch, &Phrase)) {
    statement.bind(&format!("lathe_words(m.scope, m.{column}) @@ CAST(? AS TSQUERY)"), query(of));
    if of.1.words.contains(' ') {
        statement.push(" AND ");
        add_text(statement, column, of);
    }
}

/// Words have no characters with a meaning in patterns.
fn add_text(statement: &mut Statement, column: &str, (_, phrase): (&TextSearch, &Phrase)) {
    let end = if phrase.is_prefix { "" } else { " " };
    statement.bind(&format!("' ' || m.{column} || ' ' LIKE ?"), format!("% {}{end}%", phrase.words));
}

/// Returns the words in the query language of Postgres. Words have no quotes.
fn query((search, phrase): (&TextSearch, &Phrase)) -> String {
    let words: Vec<_> = search.in_scope(&phrase.words).collect();
    let star = if phrase.is_prefix { ":*" } else { "" };
    format!("'{}'{star}", words.join("' & '"))
}
