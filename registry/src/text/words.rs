//! The words of a text, for the full-text index and for a search in it. The index of every database gets the same words.
//!
//! Letters and digits belong to words, everything else separates them. Case does not matter, nor do the accents of Latin
//! letters or the width of characters. Chinese and Japanese have no spaces between words, so each of their characters is a
//! word, and a search for several of them is a search for a phrase.

mod input_text;

use icu_normalizer::ComposingNormalizerBorrowed;
use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};

pub(crate) use self::input_text::FIELD_BYTES_MAX;
use self::input_text::extract_input_text;

/// Bytes of a word. Longer words, such as encoded files, are found by their beginning.
const WORD_BYTES_MAX: usize = 256;

/// Returns the words of a text, separated by spaces.
pub fn extract_words(text: &str) -> String {
    extract_words_within(text, FIELD_BYTES_MAX)
}

/// Returns the first words of a text, of some bytes at most or a word more.
pub(crate) fn extract_words_within(text: &str, bytes: usize) -> String {
    let text = &text[..text.floor_char_boundary(FIELD_BYTES_MAX)];
    let mut words = Words { bytes_max: bytes.min(FIELD_BYTES_MAX), ..Words::default() };
    if text.is_ascii() {
        text.chars().for_each(|character| words.add(character));
    } else {
        for character in ComposingNormalizerBorrowed::new_nfkc().normalize(text).chars() {
            words.add(strip_accent(character));
        }
    }
    words.text
}

/// Returns the words of the names, texts and numbers in the parameters of a recorded input. A damaged record has none.
pub(crate) fn extract_words_of_input(input: &str) -> String {
    extract_words(&extract_input_text(input).unwrap_or_default())
}

#[derive(Default)]
struct Words {
    text: String,
    /// Bytes of the last word; 0 when it is complete.
    open: usize,
    bytes_max: usize,
}

impl Words {
    fn add(&mut self, character: char) {
        if self.text.len() >= self.bytes_max || is_accent(character) {
            return;
        }
        if stands_alone(character) {
            self.end();
            self.push(character);
            self.end();
        } else if character.is_alphanumeric() {
            character.to_lowercase().map(replace_final_form).for_each(|lower| self.push(lower));
        } else {
            self.end();
        }
    }

    fn push(&mut self, character: char) {
        if self.open == 0 && !self.text.is_empty() {
            self.text.push(' ');
        }
        if self.open < WORD_BYTES_MAX {
            self.text.push(character);
        }
        self.open += character.len_utf8();
    }

    const fn end(&mut self) {
        self.open = 0;
    }
}

/// Returns the Latin letter of a letter with accents, and every other character as it is.
fn strip_accent(character: char) -> char {
    let mut base = character;
    while let Decomposed::Expansion(letter, accent) = CanonicalDecompositionBorrowed::new().decompose(base) {
        if !is_accent(accent) {
            return character;
        }
        base = letter;
    }
    if base.is_ascii_alphabetic() { base } else { character }
}

/// Returns the sigma that is not at the end of a word for the one that is: both have the same upper case.
const fn replace_final_form(lower: char) -> char {
    if lower == 'ς' { 'σ' } else { lower }
}

/// Whether the character is an accent on the one before it.
const fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// Whether the character is one of a script without spaces between words: Han, Hiragana or Katakana.
const fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_become_words() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("  The order #4711, \"shipped\"\ttoday!", "the order 4711 shipped today"),
            ("main.py snake_case it's", "main py snake case it s"),
            ("東京都", "東 京 都"),
            ("in東京tower", "in 東 京 tower"),
            ("こんにちは、ワールド", "こ ん に ち は ワ ー ル ド"),
            ("ｶﾞｲﾄﾞ ＡＢＣ", "ガ イ ド abc"),
            ("Zürich ZU\u{308}RICH façade Ångström ế", "zurich zurich facade angstrom e"),
            ("Straße ŁÓDŹ Йод", "straße łodz йод"),
            ("ΟΔΟΣ οδος", "οδοσ οδοσ"),
            ("한국어 검색", "한국어 검색"),
            ("a\0b", "a b"),
            ("😀 — …", ""),
            ("", ""),
        ] {
            assert_eq!(extract_words(text), expected, "{text}");
        }
    }

    #[test]
    fn words_and_fields_are_bounded() {
        assert_eq!(extract_words(&"x".repeat(1_000)).len(), WORD_BYTES_MAX);
        assert_eq!(extract_words(&format!("{} y", "é".repeat(1_000))), format!("{} y", "e".repeat(WORD_BYTES_MAX)));
        // The character becomes eighteen others.
        assert!(extract_words(&"\u{fdfa} ".repeat(FIELD_BYTES_MAX)).len() <= FIELD_BYTES_MAX + WORD_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn words_of_words_are_the_same(text in any::<String>()) {
            let once = extract_words(&text);
            prop_assert_eq!(&extract_words(&once), &once);
            prop_assert!(once.split(' ').all(|word| once.is_empty() || word.chars().all(char::is_alphanumeric)), "{}", once);
        }
    }

    #[test]
    fn inputs_are_searched_by_their_names_texts_and_numbers() {
        let input = r#"{"input_parameters":{"city":"Zürich","deep":[{"lines":"a\nb"},1.5,true,null]}}"#;
        assert_eq!(extract_words_of_input(input), "city zurich deep lines a b 1 5");
        assert_eq!(extract_words_of_input("damaged"), "");
    }
}
