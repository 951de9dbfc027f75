//! Regular expressions of conditions, bounded when they are accepted and compiled when they are first needed.
//!
//! The engine takes time linear in the text for any pattern; what has to be bounded is the pattern. Its classes are
//! those of ASCII: the tables of Unicode make a short pattern take milliseconds, and everybody's requests wait for them.

use std::sync::{Arc, OnceLock};

use regex_lite::{Regex, RegexBuilder};

use crate::error::InvalidValue;

/// Bytes of a pattern; names and tags are shorter than this themselves.
const PATTERN_BYTES_MAX: usize = 256;
/// Bytes of a compiled pattern: the longest text fits, a repetition of thousands does not.
const COMPILED_BYTES_MAX: usize = 16 * 1024;
/// Groups inside groups; compiling walks them one inside the other.
const NESTING_MAX: u32 = 16;

/// A pattern, searched for anywhere in a text unless it is anchored. Clones share what was compiled.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    source: String,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl Pattern {
    /// Takes a pattern that was accepted once; nothing is compiled yet.
    pub fn stored(source: String) -> Self {
        Self { source, compiled: Arc::default() }
    }

    /// Accepts a pattern within bounds.
    pub fn parse(source: &str) -> Result<Self, InvalidValue> {
        let pattern = Self::stored(source.to_owned());
        let fits = source.len() <= PATTERN_BYTES_MAX && pattern.compiled().is_some();
        let rule = "must be a regular expression of at most 256 bytes and of moderate size, without look-around";
        if fits { Ok(pattern) } else { Err(InvalidValue::new("regex", rule)) }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// A pattern that cannot be compiled, which only a damaged row can hold, matches nothing.
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled().is_some_and(|regex| regex.is_match(text))
    }

    fn compiled(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| {
            let mut builder = RegexBuilder::new(&self.source);
            builder.size_limit(COMPILED_BYTES_MAX).nest_limit(NESTING_MAX);
            builder.build().ok()
        });
        compiled.as_ref()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_pattern_is_searched_for() {
        let matches = |pattern: &str, text: &str| Pattern::parse(pattern).unwrap().is_match(text);
        assert!(matches("ear", "search") && !matches("^ear", "search") && matches("^s.*h$", "search"));
    }

    #[test]
    fn patterns_beyond_the_bounds_are_refused() {
        let nested = format!("{}a{}", "(".repeat(40), ")".repeat(40));
        for pattern in
            ["(", "(?=a)", r"(a)\1", "a{100000}", r"(\w{50}){50}", r"(?i)[\PL\PL&&a]*", &nested, &"a".repeat(257)]
        {
            assert!(Pattern::parse(pattern).is_err(), "{pattern}");
        }
        assert!(Pattern::parse(&"a".repeat(256)).is_ok());
    }

    #[test]
    fn a_damaged_pattern_matches_nothing() {
        assert!(!Pattern::stored("(".to_owned()).is_match("("));
    }
}
