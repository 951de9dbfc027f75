//! What is searched for in the full-text index.

use std::collections::BTreeSet;

use super::search_columns::scope;
use super::words::words;
use crate::account::OrganizationId;
use crate::history::{SearchField, SearchQuery, SearchTerm};

/// A search that has words. Each phrase must be in one of the columns.
pub(in crate::store) struct TextSearch {
    /// The word of the column `scope`.
    pub scope: String,
    pub columns: BTreeSet<&'static str>,
    pub phrases: Vec<Phrase>,
}

/// Words that follow each other, separated by spaces.
pub(in crate::store) struct Phrase {
    pub words: String,
    /// Whether the last word is the beginning of a word.
    pub is_prefix: bool,
}

impl TextSearch {
    /// Returns `None` for a text without words. Terms without words are ignored.
    pub fn of(organization: &OrganizationId, query: &SearchQuery) -> Option<Self> {
        let phrases: Vec<_> = query.text.terms().iter().filter_map(phrase).collect();
        let columns = columns(&query.fields);
        (!phrases.is_empty()).then(|| Self { scope: scope(organization), columns, phrases })
    }
}

fn phrase(term: &SearchTerm) -> Option<Phrase> {
    let words = words(&term.text);
    (!words.is_empty()).then_some(Phrase { words, is_prefix: term.is_prefix })
}

fn columns(fields: &[SearchField]) -> BTreeSet<&'static str> {
    const RESULT: [SearchField; 4] = [
        SearchField::Output,
        SearchField::ExceptionMessage,
        SearchField::ExceptionType,
        SearchField::ExceptionStackTrace,
    ];
    let wanted = if fields.is_empty() { &RESULT[..] } else { fields };
    wanted.iter().copied().map(column).collect()
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
