//! A search in the full-text index.

use std::collections::BTreeSet;

/// A search that has words. Each phrase must be in one of the columns.
pub(in crate::store) struct TextSearch {
    /// The prefix of the organisation's words in the index.
    pub scope: String,
    pub columns: BTreeSet<&'static str>,
    pub phrases: Vec<Phrase>,
    /// Words of the column `facets`. A row has one of each inner list.
    pub facets: Vec<Vec<String>>,
}

/// Words that follow each other, separated by spaces.
pub(in crate::store) struct Phrase {
    pub words: String,
    /// Whether the last word is the beginning of a word.
    pub is_prefix: bool,
}

impl TextSearch {
    /// Returns words as the index has them: each after the scope.
    pub fn in_scope<'a>(&'a self, words: &'a str) -> impl Iterator<Item = String> + 'a {
        words.split(' ').map(|word| format!("{}{word}", self.scope))
    }
}

/// The part of the index that one statement of a search reads.
pub(in crate::store) struct Window {
    /// Its blocks ([`crate::store::sql::history::search_windows`]). None for the whole index.
    pub blocks: Vec<Block>,
    /// The row that follows the last one.
    pub before: i64,
    /// The number of its rows, of all organisations.
    pub rows: i64,
}

/// Rows that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Block {
    /// 0 for the smallest.
    pub size: u32,
    /// The position among the blocks of its size.
    pub number: i64,
}
