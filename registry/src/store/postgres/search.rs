//! Searches as conditions on the words of the outcome and the input of a run.

use crate::store::database::{Block, Phrase, Statement, TextSearch, Window};

/// The rows of a window that are read to find the beginning of a word. In the index it is found with all of its rows, of all windows.
const ROWS_READ_MAX: i64 = 1 << 15;

/// A column of the index, and the columns of the table whose words it has.
struct IndexColumn {
    words: &'static str,
    columns: &'static [&'static str],
}

const OUTCOME: IndexColumn = IndexColumn {
    words: "lathe_outcome_words(m.scope, m.output, m.exception_type, m.exception_message, m.exception_stack_trace)",
    columns: &["output", "exception_type", "exception_message", "exception_stack_trace"],
};
const INPUTS: IndexColumn = IndexColumn { words: "lathe_words(m.scope, m.inputs)", columns: &["inputs"] };

/// Adds the rows that are in the window and match the search, as the table `t`, newest first. Planners read a table with an
/// offset by itself: for a page of the whole search they may rather separate the words of each row, newest first.
///
/// `string_to_array` is immutable: planners make a constant of it, and do not check again the rows that the index has found. A cast
/// from text to an array is only stable.
pub(super) fn add_matches(statement: &mut Statement, search: &TextSearch, window: &Window) {
    statement.bind("(SELECT m.rowid FROM inv_text m WHERE m.rowid < ?", window.before);
    let name = |block: &Block| format!("{}/{}/{}", search.scope, block.size, block.number);
    let blocks: Vec<_> = window.blocks.iter().map(name).collect();
    statement.bind(" AND lathe_blocks(m.scope, m.rowid) && string_to_array(CAST(? AS TEXT), ',')", blocks.join(","));
    for facets in &search.facets {
        let facets: Vec<_> = facets.iter().flat_map(|facet| search.in_scope(facet)).collect();
        let query = format!("'{}'", facets.join("' | '"));
        statement.bind(" AND lathe_words(m.scope, m.facets) @@ CAST(? AS TSQUERY)", query);
    }
    for phrase in &search.phrases {
        let is_read = phrase.is_prefix && window.rows <= ROWS_READ_MAX;
        let mut before = " AND ((";
        for indexed in [OUTCOME, INPUTS] {
            let columns: Vec<_> = indexed.columns.iter().copied().filter(|one| search.columns.contains(one)).collect();
            if columns.is_empty() {
                continue;
            }
            statement.push(before);
            if !is_read {
                add_words(statement, &indexed, search, phrase);
            }
            // The index finds rows with all words of a phrase, in any order and in any of the columns.
            if is_read || phrase.words.contains(' ') || columns.len() < indexed.columns.len() {
                statement.push(if is_read { "" } else { " AND " });
                add_text(statement, &columns, phrase);
            }
            before = ") OR (";
        }
        statement.push("))");
    }
    statement.push(" ORDER BY m.rowid DESC OFFSET 0) t");
}

/// Adds the condition that the index has the words, in the query language of Postgres. Words have no quotes.
fn add_words(statement: &mut Statement, indexed: &IndexColumn, search: &TextSearch, phrase: &Phrase) {
    let words: Vec<_> = search.in_scope(&phrase.words).collect();
    let star = if phrase.is_prefix { ":*" } else { "" };
    let query = format!("'{}'{star}", words.join("' & '"));
    statement.bind(&format!("{} @@ CAST(? AS TSQUERY)", indexed.words), query);
}

/// Adds the condition that one of the columns has the words in their order. Words have no characters with a meaning in patterns.
fn add_text(statement: &mut Statement, columns: &[&str], phrase: &Phrase) {
    let end = if phrase.is_prefix { "" } else { " " };
    let mut before = "(";
    for column in columns {
        let pattern = format!("% {}{end}%", phrase.words);
        statement.bind(&format!("{before}' ' || m.{column} || ' ' LIKE ?"), pattern);
        before = " OR ";
    }
    statement.push(")");
}
