//! Regular expressions of conditions. Their size is checked when a role is written, and they are compiled at first use.
//!
//! Matching takes linear time for any pattern, so only the size of the pattern has to be bounded. Character classes are
//! ASCII only: with Unicode tables a short pattern takes milliseconds to compile, for which all requests wait.

use std::sync::{Arc, OnceLock};

use regex_lite::{Regex, RegexBuilder};

use crate::kit::byte_cache::HeapBytes;
use crate::kit::invalid_value::InvalidValue;

/// Bytes of a pattern. Names and tags are shorter.
const PATTERN_BYTES_MAX: usize = 256;
/// Bytes of a compiled pattern. The longest literal fits; a repetition of thousands does not.
const COMPILED_BYTES_MAX: usize = 16 * 1024;
/// Depth of nested groups, which the compiler handles by recursion.
const NESTING_MAX: u32 = 16;

/// A regular expression. It matches anywhere in a text unless it is anchored. Clones share the compiled form.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    source: String,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl Pattern {
    /// Creates a pattern from the database without compiling it.
    pub fn stored(source: String) -> Self {
        Self { source, compiled: Arc::default() }
    }

    /// Parses a pattern and checks its bounds.
    pub fn parse(source: &str) -> Result<Self, InvalidValue> {
        let pattern = Self::stored(source.to_owned());
        let fits = source.len() <= PATTERN_BYTES_MAX && pattern.compile().is_some();
        let rule = "must be a regular expression of at most 256 bytes and of moderate size, without look-around";
        if fits { Ok(pattern) } else { Err(InvalidValue::new("regex", rule)) }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the text matches. A pattern from a damaged row that cannot be compiled matches nothing.
    pub fn is_match(&self, text: &str) -> bool {
        self.compile().is_some_and(|regex| regex.is_match(text))
    }

    fn compile(&self) -> Option<&Regex> {
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

/// Counts the compiled form, which is made later, with its bound.
impl HeapBytes for Pattern {
    fn heap_bytes(&self) -> usize {
        self.source.heap_bytes() + COMPILED_BYTES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_pattern_matches_anywhere() {
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
