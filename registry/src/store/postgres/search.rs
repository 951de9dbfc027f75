//! Searches as conditions on the words of each column.

use crate::store::database::{Phrase, Statement, TextSearch};

pub(super) const UNINDEX: &str =
    "DELETE FROM inv_text WHERE rowid IN (SELECT rowid FROM {records $1 rowid INTEGER} removed)";

/// Adds the condition that a row of the full-text index, `t`, matches a search.
pub(super) fn matching(statement: &mut Statement, search: &TextSearch) {
    statement.bind(" AND string_to_array(t.scope, ' ') @> ARRAY[?]", search.scope.as_str());
    for phrase in &search.phrases {
        let mut before = " AND (";
        for column in &search.columns {
            statement.push(before);
            add_phrase(statement, column, phrase);
            before = " OR ";
        }
        statement.push(")");
    }
}

/// The index finds the rows with all words, and the text has them in their order.
fn add_phrase(statement: &mut Statement, column: &str, phrase: &Phrase) {
    let words = format!("(lathe_words(t.{column}) @@ CAST(? AS TSQUERY)");
    statement.bind(&words, query(phrase));
    if phrase.words.contains(' ') {
        let end = if phrase.is_prefix { "" } else { " " };
        // Words have no characters with a meaning in patterns.
        statement.bind(&format!(" AND ' ' || t.{column} || ' ' LIKE ?"), format!("% {}{end}%", phrase.words));
    }
    statement.push(")");
}

/// Returns the words in the query language of Postgres. Words have no quotes.
fn query(phrase: &Phrase) -> String {
    let star = if phrase.is_prefix { ":*" } else { "" };
    format!("'{}'{star}", phrase.words.replace(' ', "' & '"))
}
