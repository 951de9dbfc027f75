//! Which records of the history are wanted.

use crate::constraint::Constraint;
use crate::effect::Effect;
use crate::error::InvalidValue;
use crate::ids::ToolId;
use crate::invocation_source::InvocationSourceKind;
use crate::page::Direction;

/// Terms of a search; each costs a walk through an index.
pub const SEARCH_TERMS_MAX: usize = 32;
/// Characters of a search; longer ones are pasted by accident.
pub const SEARCH_CHARACTERS_MAX: usize = 256;
/// Records that a search answers with at most.
pub const SEARCH_RESULTS_MAX: u32 = 100;

/// Which records are listed. Every empty list means any; the default lists all finished runs, newest first.
#[derive(Clone, Debug, Default)]
pub struct InvocationFilter {
    pub tools: Vec<ToolSelection>,
    pub source_kinds: Vec<InvocationSourceKind>,
    pub conversation_ids: Vec<String>,
    pub simulation_unit_test_set_run_ids: Vec<String>,
    pub succeeded: Option<bool>,
    pub persisted: Option<bool>,
    /// Runs that have one of each kind that is named.
    pub effects: Vec<Effect>,
    /// Ties are broken by age, newest first.
    pub sort: Vec<(InvocationSort, Direction)>,
}

/// A tool, with the versions of it that are meant.
#[derive(Clone, Debug)]
pub struct ToolSelection {
    pub tool: ToolId,
    pub versions: Option<Constraint>,
}

/// What records can be sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvocationSort {
    CreatedAt,
    DurationMs,
    Succeeded,
}

/// Words to find. A record matches when it has all of them in the fields.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub text: SearchText,
    /// Empty means all fields.
    pub fields: Vec<SearchField>,
}

/// The text of a search, within its bounds. Any text may have no word in it, and finds nothing then.
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

/// ASCII signs alone are no word. Of other signs the index knows which are, and passes over those that are not.
fn has_word(term: &str) -> bool {
    term.chars().any(|sign| !sign.is_ascii() || sign.is_ascii_alphanumeric())
}

/// A searchable part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchField {
    Output,
    ExceptionMessage,
    ExceptionType,
    ExceptionStackTrace,
}
