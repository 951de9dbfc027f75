//! Filters and searches of the history of runs.

use super::effect::Effect;
use super::invocation_source::{Origin, SourceType};
use crate::kit::clock::Timestamp;
use crate::kit::ids::ToolId;
use crate::kit::invalid_value::InvalidValue;
use crate::kit::page::Direction;
use crate::versions::Constraint;

/// Words of a search. Each word costs a scan of an index.
pub const SEARCH_TERMS_MAX: usize = 32;
/// Characters of a search. Longer texts are pasted by accident.
pub const SEARCH_CHARACTERS_MAX: usize = 256;
/// The filter and order of a list of records. An empty list means any. The default lists all finished runs, newest first.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub tools: Vec<ToolSelection>,
    pub source_types: Vec<SourceType>,
    pub origins: Vec<Origin>,
    /// Users of conversations, and callers outside of conversations.
    pub user_ids: Vec<String>,
    /// The start of the run, inclusive.
    pub created_after: Option<Timestamp>,
    /// The start of the run, exclusive.
    pub created_before: Option<Timestamp>,
    pub states: RunStates,
    pub conversation_ids: Vec<String>,
    pub simulation_unit_test_set_run_ids: Vec<String>,
    pub succeeded: Option<bool>,
    pub persisted: Option<bool>,
    /// Lists runs with at least one of these effects per kind.
    pub effects: Vec<Effect>,
    /// Ties are ordered by age, newest first.
    pub sort: Vec<(RunSort, Direction)>,
}

/// A tool with a constraint on its version.
#[derive(Clone, Debug)]
pub struct ToolSelection {
    pub tool: ToolId,
    pub versions: Option<Constraint>,
}

/// The states of the listed runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunStates {
    #[default]
    Finished,
    Running,
    All,
}

/// Sort keys of records. A branch test has no tool and no version; it sorts as tool 0 and version 0.0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunSort {
    CreatedAt,
    DurationMs,
    Succeeded,
    ToolId,
    Major,
    Minor,
    Patch,
    SourceType,
}

/// A search. A record matches when the fields contain all words.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub text: SearchText,
    /// Empty means all fields of the result.
    pub fields: Vec<SearchField>,
    /// The default finds runs that have ended, whatever their order.
    pub filter: RunFilter,
}

/// The text of a search. A text without words finds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchText(Vec<SearchTerm>);

/// A word of a search, or with `is_prefix` the beginning of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchTerm {
    pub text: String,
    pub is_prefix: bool,
}

impl SearchText {
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.chars().count() > SEARCH_CHARACTERS_MAX {
            return Err(InvalidValue::new("search", "must have at most 256 characters"));
        }
        let words = text.split_whitespace().filter(|word| has_word(word));
        let terms: Vec<SearchTerm> = words.map(SearchTerm::parse).collect();
        if terms.len() > SEARCH_TERMS_MAX {
            return Err(InvalidValue::new("search", "must have at most 32 words"));
        }
        Ok(Self(terms))
    }

    pub(crate) fn terms(&self) -> &[SearchTerm] {
        &self.0
    }
}

impl SearchTerm {
    fn parse(word: &str) -> Self {
        match word.strip_suffix('*') {
            Some(beginning) => Self { text: beginning.to_owned(), is_prefix: true },
            None => Self { text: word.to_owned(), is_prefix: false },
        }
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
    Inputs,
}
