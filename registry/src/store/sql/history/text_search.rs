//! A search in the full-text index: the columns, and the phrases that they must contain.

use std::collections::BTreeSet;

use super::search_columns::build_scope;
use super::search_facets::collect_wanted;
use crate::history::{SearchField, SearchQuery, SearchTerm};
use crate::kit::account::OrganizationId;
use crate::kit::clock::Timestamp;
use crate::store::database::{Phrase, TextSearch};
use crate::text::words::extract_words;

/// Returns what a query searches for; `None` for a text without words. Terms without words are ignored.
pub(in crate::store) fn build_text_search(
    organization: &OrganizationId,
    query: &SearchQuery,
    now: Timestamp,
) -> Option<TextSearch> {
    let phrases: Vec<_> = query.text.terms().iter().filter_map(build_phrase).collect();
    let (columns, facets) = (list_columns(&query.fields), collect_wanted(&query.filter, now));
    (!phrases.is_empty()).then(|| TextSearch { scope: build_scope(organization), columns, phrases, facets })
}

fn build_phrase(term: &SearchTerm) -> Option<Phrase> {
    let words = extract_words(&term.text);
    (!words.is_empty()).then_some(Phrase { words, is_prefix: term.is_prefix })
}

fn list_columns(fields: &[SearchField]) -> BTreeSet<&'static str> {
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
