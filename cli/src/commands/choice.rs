//! Options whose value is one of a few words.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads one of the words and returns the value beside it.
pub fn build_choice_parser<T>(words: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).try_map(|chosen| {
        let found = words.iter().find(|(word, _)| *word == chosen);
        found.map(|(_, value)| *value).ok_or("unknown value")
    })
}
