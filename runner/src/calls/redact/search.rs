//! Searches the forms of secrets in all readings of a text.

use std::collections::{BTreeSet, HashMap};

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};

use super::reading::{self, Reading};
use super::spans::Spans;
use crate::text::CUT;

/// Bytes of a form that may remain at the end of a cut text. Shorter prefixes occur in any text.
const REMNANT_BYTES_MAX: usize = 3;
/// Bytes with which the shortest remnant begins.
const START_BYTES: usize = REMNANT_BYTES_MAX + 1;
/// Cut marks in one reading before which prefixes of secrets are searched. A run may have one cut message for each
/// request.
const CUTS_MAX: usize = 64;
/// Longest part of an escape before a cut, such as `\U0001f60`.
const ESCAPE_BYTES_MAX: usize = 10;

/// The forms to find.
pub struct Forms {
    /// Finds the forms, and as its last pattern the cut mark.
    automaton: AhoCorasick,
    /// Recognises texts without any form fifty times as fast. `None` when there are too many forms.
    filter: Option<Searcher>,
    texts: Vec<String>,
    /// The forms that begin with some bytes, so that a cut text is compared with few of them.
    by_start: HashMap<[u8; START_BYTES], Vec<usize>>,
    /// Bytes of the longest form.
    longest: usize,
    numbers: Vec<f64>,
    has_spaces: bool,
}

impl Forms {
    /// # Errors
    /// When there are more forms than an automaton holds.
    pub fn new(mut texts: Vec<String>, numbers: Vec<f64>) -> Result<Self, BuildError> {
        texts.sort_unstable();
        texts.dedup();
        let patterns = || texts.iter().map(String::as_str).chain([CUT]);
        // The kind that is built fastest, since it is used for one call.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(patterns())?;
        let filter = Searcher::new(patterns());
        let has_spaces = texts.iter().any(|text| text.contains(' '));
        let mut by_start: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, text) in texts.iter().enumerate() {
            by_start.entry(text.as_bytes().first_chunk().copied().unwrap_or_default()).or_default().push(index);
        }
        let longest = texts.iter().map(String::len).max().unwrap_or_default();
        Ok(Self { automaton, filter, texts, by_start, longest, numbers, has_spaces })
    }

    /// Finds the secrets in a text. `is_cut` says whether the text continued beyond these bytes.
    pub(super) fn find(&self, text: &str, is_cut: bool) -> Spans {
        let mut spans = Spans::default();
        reading::visit_readings(text, self.has_spaces, |reading| self.find_in(reading, is_cut, &mut spans));
        spans.merge()
    }

    fn find_in(&self, reading: &Reading<'_>, is_cut: bool, spans: &mut Spans) {
        if self.filter.as_ref().is_none_or(|filter| filter.find(&reading.bytes).is_some()) {
            self.find_all(reading, spans);
        }
        if is_cut {
            self.find_remnant(reading, reading.bytes.len(), spans);
        }
    }

    fn find_all(&self, reading: &Reading<'_>, spans: &mut Spans) {
        let mut cuts = 0;
        for found in self.automaton.find_overlapping_iter(&reading.bytes) {
            if found.pattern().as_usize() < self.texts.len() {
                spans.add(reading.source(found.range()));
            } else if cuts < CUTS_MAX {
                cuts += 1;
                self.find_remnant(reading, found.start(), spans);
            }
        }
    }

    /// Finds the prefix of a secret before a cut. The cut may also be in an escape within the secret.
    fn find_remnant(&self, reading: &Reading<'_>, end: usize, spans: &mut Spans) {
        let text = without_suffix(reading.bytes.get(..end).unwrap_or_default(), b"\n");
        let mut rest = text;
        for _ in 0..3 {
            if let Some(length) = self.find_begun(rest).filter_map(|form| find_remnant_of(form.as_bytes(), rest)).max()
            {
                spans.add(reading.source(rest.len() - length..text.len()));
            }
            rest = without_escape(rest);
        }
    }

    /// The forms whose first bytes are in the end of a text.
    fn find_begun(&self, text: &[u8]) -> impl Iterator<Item = &String> {
        let end = text.get(text.len().saturating_sub(self.longest)..).unwrap_or_default();
        let begun = end.windows(START_BYTES).filter_map(|start| self.by_start.get(start));
        let begun: BTreeSet<usize> = begun.flatten().copied().collect();
        begun.into_iter().filter_map(|index| self.texts.get(index))
    }

    /// Whether a number is a secret, or contains one in its digits.
    pub fn has_number(&self, number: f64, digits: &str) -> bool {
        let is_it = |secret: &f64| secret.to_bits() == number.abs().to_bits();
        self.numbers.iter().any(is_it) || !self.find(digits, false).is_empty()
    }
}

/// The length of the longest prefix of a form with which a text ends. It is computed with the prefix function of Knuth,
/// Morris and Pratt, in time linear in the form.
fn find_remnant_of(form: &[u8], text: &[u8]) -> Option<usize> {
    // The automaton has found a whole form.
    let form = form.get(..form.len().checked_sub(1)?)?;
    let end = text.get(text.len().saturating_sub(form.len())..)?;
    let mut prefixes = Prefixes { form, borders: vec![0; form.len()] };
    for (at, byte) in form.iter().enumerate().skip(1) {
        prefixes.borders[at] = prefixes.extend(prefixes.borders[at - 1], *byte);
    }
    let length = end.iter().fold(0, |length, byte| {
        let length = if length == form.len() { prefixes.borders[length - 1] } else { length };
        prefixes.extend(length, *byte)
    });
    (length > REMNANT_BYTES_MAX).then_some(length)
}

/// A form, and for each of its prefixes the length of the longest shorter prefix with which it ends.
struct Prefixes<'f> {
    form: &'f [u8],
    borders: Vec<usize>,
}

impl Prefixes<'_> {
    /// Extends a matched prefix by `byte`, or falls back to the longest shorter prefix that `byte` extends.
    fn extend(&self, mut length: usize, byte: u8) -> usize {
        while length > 0 && self.form.get(length) != Some(&byte) {
            length = self.borders[length - 1];
        }
        if self.form.get(length) == Some(&byte) { length + 1 } else { 0 }
    }
}

fn without_suffix<'b>(mut bytes: &'b [u8], suffix: &[u8]) -> &'b [u8] {
    while let Some(rest) = bytes.strip_suffix(suffix) {
        bytes = rest;
    }
    bytes
}

/// Removes a partial escape or character at the end.
fn without_escape(bytes: &[u8]) -> &[u8] {
    const REPLACED: &[u8] = "\u{fffd}".as_bytes();
    let replaced = without_suffix(bytes, REPLACED);
    if replaced.len() < bytes.len() {
        return replaced;
    }
    let digits =
        bytes.iter().rev().take(ESCAPE_BYTES_MAX).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'{');
    let begun = bytes.len() - digits.count();
    match bytes.get(..begun) {
        Some([rest @ .., b'\\' | b'%']) => rest,
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_remnant_is_the_longest_prefix_at_the_end(form in "[ab]{1,12}", text in "[ab]{0,30}") {
            let begins = |length: &usize| text.ends_with(&form[..*length]);
            let expected = (REMNANT_BYTES_MAX + 1..form.len()).rev().find(begins);
            prop_assert_eq!(find_remnant_of(form.as_bytes(), text.as_bytes()), expected);
        }
    }

    #[test]
    fn the_prefix_of_a_long_secret_is_found() {
        let secret: String = (0..600).map(|number| format!("{number:05}")).collect();
        for length in [4, 1_023, 1_792, 2_999] {
            let text = format!("{}{}", "x".repeat(5_000), &secret[..length]);
            assert_eq!(find_remnant_of(secret.as_bytes(), text.as_bytes()), Some(length));
        }
    }
}
