//! Words that a searcher may have meant: a word of a query that no text has is taken for words of the texts that are spelt almost like
//! it, that are other forms of it, or that mean the same.
//!
//! A word is compared with all words of the texts, up to a bound, and not by an index of trigrams: comparing a hundred thousand
//! words takes milliseconds, and an index would take as much memory as the words.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Serialize;
use strsim::osa_distance;

/// Bytes of words with which the words of one query are compared.
const COMPARED_BYTES_MAX: usize = 4 << 20;
/// Words of a query that are taken for others. Each is compared with all words.
pub const CORRECTED_WORDS_MAX: usize = 8;
/// Words for which one word is taken.
const TAKEN_MAX: usize = 3;
/// The weight of a word for which another one is taken, when one of the query weighs 1.
pub const TAKEN_WEIGHT: f32 = 0.5;

/// Characters of the shortest word whose spelling may differ: most short words differ from another one in a letter.
const CHARACTERS_MIN: usize = 4;
/// Characters of the shortest word that may differ in two places.
const CHARACTERS_FOR_TWO: usize = 7;
/// Characters of the longest word that is compared.
const CHARACTERS_MAX: usize = 48;
/// Characters that another form of a word may have more, such as `ing`.
const ENDING_MAX: usize = 3;

/// Groups of words with the same meaning, one a line.
const SYNONYMS: &str = include_str!("near_words/synonyms.txt");

static GROUPS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut groups: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in SYNONYMS.lines() {
        for word in line.split(' ') {
            groups.entry(word).or_default().extend(line.split(' ').filter(|other| *other != word));
        }
    }
    groups
});

/// A word of a query that no text has, and the words for which it was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Correction {
    pub word: String,
    pub taken_for: Vec<String>,
}

/// How words may be near to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearBy {
    /// For searches that find the same meaning in another way.
    Spelling,
    SpellingOrMeaning,
}

/// Returns for which words of the texts a word is taken, the nearest first. The words are in small letters.
pub fn find_near_words<'a>(word: &str, vocabulary: impl Iterator<Item = &'a str>, by: NearBy) -> Vec<&'a str> {
    let wanted = Word::of(word);
    let meanings =
        GROUPS.get(strip_plural(word)).or_else(|| GROUPS.get(word)).filter(|_| by == NearBy::SpellingOrMeaning);
    let meanings = meanings.map_or(&[][..], Vec::as_slice);
    let means_the_same =
        |candidate: &str| meanings.iter().any(|other| *other == candidate || *other == strip_plural(candidate));
    let (mut near, mut left) = (Vec::new(), COMPARED_BYTES_MAX);
    for candidate in vocabulary {
        let Some(rest) = left.checked_sub(candidate.len()) else { break };
        left = rest;
        let distance =
            if means_the_same(candidate) { Some(Distance::Meaning) } else { wanted.compute_distance(candidate) };
        near.extend(distance.map(|distance| (distance, candidate)));
    }
    near.sort_unstable_by_key(|(distance, candidate)| {
        (*distance, Reverse(count_shared_beginning(word, candidate)), *candidate)
    });
    let best = near.first().map(|(distance, _)| distance.is_of_spelling());
    // A word that is misspelt means nothing else.
    let of_the_best = near.into_iter().filter(|(distance, _)| Some(distance.is_of_spelling()) == best);
    of_the_best.take(TAKEN_MAX).map(|(_, candidate)| candidate).collect()
}

/// How near a word is to another one, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// Another form, or another spelling with so many differences.
    Spelling(usize),
    Meaning,
}

impl Distance {
    const fn is_of_spelling(self) -> bool {
        matches!(self, Self::Spelling(_))
    }
}

/// A word that is compared with many.
struct Word<'a> {
    text: &'a str,
    characters: usize,
    letters: u64,
    differences_max: usize,
}

impl<'a> Word<'a> {
    fn of(text: &'a str) -> Self {
        let characters = text.chars().count();
        let is_word = text.chars().all(char::is_alphabetic) && (CHARACTERS_MIN..=CHARACTERS_MAX).contains(&characters);
        let differences_max = match characters {
            _ if !is_word => 0,
            CHARACTERS_FOR_TWO.. => 2,
            _ => 1,
        };
        Self { text, characters, letters: mask_letters(text), differences_max }
    }

    fn compute_distance(&self, other: &str) -> Option<Distance> {
        // Bytes first: most words differ in their length.
        if self.differences_max == 0 || other.len().abs_diff(self.text.len()) > 4 * ENDING_MAX {
            return None;
        }
        let characters = other.chars().count();
        if characters < CHARACTERS_MIN || characters.abs_diff(self.characters) > ENDING_MAX {
            return None;
        }
        if other.starts_with(self.text) || self.text.starts_with(other) {
            return Some(Distance::Spelling(1));
        }
        // A difference changes at most two letters of the sets.
        let other_letters = (self.letters ^ mask_letters(other)).count_ones() as usize;
        if other_letters > 2 * self.differences_max || !other.chars().all(char::is_alphabetic) {
            return None;
        }
        let differences = osa_distance(self.text, other);
        (differences <= self.differences_max).then_some(Distance::Spelling(differences))
    }
}

/// Returns the set of the letters, of which several may share a bit.
fn mask_letters(text: &str) -> u64 {
    text.chars().fold(0, |set, character| set | 1 << (u32::from(character) & 63))
}

fn strip_plural(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}

fn count_shared_beginning(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 12] = [
        "invoice",
        "invoices",
        "voice",
        "order",
        "orders",
        "shipping",
        "schedule",
        "order17",
        "car",
        "weather",
        "delete",
        "東京都庁",
    ];

    fn near(word: &str) -> Vec<&'static str> {
        find_near_words(word, WORDS.into_iter(), NearBy::SpellingOrMeaning)
    }

    #[test]
    fn words_are_near_by_their_spelling_or_as_other_forms() {
        for (word, expected) in [
            ("invioce", &["invoice"][..]),
            ("invoce", &["invoice"]),
            ("shiping", &["shipping"]),
            ("ordr", &["order"]),
            ("ordering", &["order"]),
            ("schedul", &["schedule"]),
            ("wether", &["weather"]),
        ] {
            let found = near(word);
            assert!(expected.iter().all(|expected| found.contains(expected)), "{word}: {found:?}");
        }
    }

    #[test]
    fn words_with_the_same_meaning_are_near() {
        assert_eq!(near("bill"), ["invoice", "invoices"]);
        assert_eq!(near("automobile"), ["car"]);
        assert_eq!(near("erase"), ["delete"]);
        assert!(find_near_words("erase", WORDS.into_iter(), NearBy::Spelling).is_empty());
        assert_eq!(near("bills"), ["invoice", "invoices"]);
    }

    #[test]
    fn ids_short_words_and_other_words_are_taken_for_nothing() {
        for word in ["order18", "cat", "elephant", "", "1234", "東京", &"x".repeat(5_000)] {
            assert!(near(word).is_empty(), "{word}");
        }
    }

    #[test]
    fn no_more_words_are_compared_than_fit_the_bound() {
        let long = "x".repeat(COMPARED_BYTES_MAX);
        let words = [long.as_str(), "invoice"];
        assert!(find_near_words("invoce", words.into_iter(), NearBy::Spelling).is_empty());
    }

    #[test]
    fn groups_of_synonyms_are_words_in_small_letters() {
        for line in SYNONYMS.lines() {
            assert!(line.split(' ').count() > 1, "{line}");
            assert!(line.chars().all(|character| character == ' ' || character.is_ascii_lowercase()), "{line}");
        }
    }
}
