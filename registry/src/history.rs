//! Filters and searches of the history of runs.

use crate::constraint::Constraint;
use crate::effect::Effect;
use crate::ids::ToolId;
use crate::invalid_value::InvalidValue;
use crate::invocation_source::InvocationSourceKind;
use crate::page::Direction;

/// Words of a search. Each word costs a scan of an index.
pub const SEARCH_TERMS_MAX: usize = 32;
/// Characters of a search. Longer texts are pasted by accident.
pub const SEARCH_CHARACTERS_MAX: usize = 256;
/// Maximum number of records that a search returns.
pub const SEARCH_RESULTS_MAX: u32 = 100;

/// The filter and order of a list of records. An empty list means any. The default lists all finished runs, newest first.
#[derive(Clone, Debug, Default)]
pub struct InvocationFilter {
    pub tools: Vec<ToolSelection>,
    pub source_kinds: Vec<InvocationSourceKind>,
    pub conversation_ids: Vec<String>,
    pub simulation_unit_test_set_run_ids: Vec<String>,
    pub succeeded: Option<bool>,
    pub persisted: Option<bool>,
    /// Lists runs with at least one of these effects per kind.
    pub effects: Vec<Effect>,
    /// Ties are ordered by age, newest first.
    pub sort: Vec<(InvocationSort, Direction)>,
}

/// A tool with a constraint on its version.
#[derive(Clone, Debug)]
pub struct ToolSelection {
    pub tool: ToolId,
    pub versions: Option<Constraint>,
}

/// Sort keys of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvocationSort {
    CreatedAt,
    DurationMs,
    Succeeded,
}

/// A search. A record matches when the fields contain all words.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub text: SearchText,
    /// Empty means all fields.
    pub fields: Vec<SearchField>,
}

/// The text of a search. A text without words finds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchText(Vec<String>);

impl SearchText {
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.chars().count() > SEARCH_CHARACTERS_MAX {
            return Err(InvalidValue::new("search", "must have at most 256 characters"));
        }
        let words: Vec<String> = text.split_whitespace().filter(|word| has_word(word)).map(str::to_owned).collect();
        if words.len() > SEARCH_TERMS_MAX {
            return Err(InvalidValue::new("search", "must have at most 32 words"));
        }
        Ok(Self(words))
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.0
    }
}

/// Whether the term may contain a word. ASCII punctuation alone is no word. The full-text index decides about other
/// characters, and ignores terms without words.
fn has_word(term: &str) -> bool {
    term.chars().any(|character| !character.is_ascii() || character.is_ascii_alphanumeric())
}

/// A searchable part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchField {
    Output,
    ExceptionMessage,
    ExceptionType,
    ExceptionStackTrace,
}
