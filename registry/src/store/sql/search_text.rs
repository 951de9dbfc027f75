//! Texts as the full-text index has them.
//!
//! The index separates words at white space and punctuation. Chinese and Japanese have neither between words, so each of their
//! characters is a word of the index, and a search for several of them is a search for a phrase.

use serde_json::Value;

/// Indexed bytes of a field. Outputs are shorter; exceptions and inputs may be longer.
const FIELD_BYTES_MAX: usize = 256 * 1024;

/// Returns the text for the index, or for a search in it. NUL, which would end the text, is replaced with its symbol.
pub(super) fn searchable(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(FIELD_BYTES_MAX)];
    if text.is_ascii() && !text.contains('\0') {
        return text.to_owned();
    }
    let mut found = String::with_capacity(text.len());
    let mut after_ideograph = false;
    for character in text.chars() {
        let is_ideograph = stands_alone(character);
        if (is_ideograph || after_ideograph) && !found.is_empty() {
            found.push(' ');
        }
        found.push(if character == '\0' { '\u{2400}' } else { character });
        after_ideograph = is_ideograph;
    }
    found
}

/// Returns the names, texts and numbers of the parameters of a recorded input. A damaged record has none.
pub(super) fn searchable_json(input: &str) -> String {
    let parsed: Value = serde_json::from_str(input).unwrap_or_default();
    let mut text = String::new();
    collect(&parsed["input_parameters"], &mut text);
    searchable(&text)
}

/// Appends the words of a value. The depth of a recorded input is that of a parsed request, which is bounded.
fn collect(value: &Value, text: &mut String) {
    if text.len() > FIELD_BYTES_MAX {
        return;
    }
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            word(name, text);
            collect(value, text);
        }),
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::String(found) => word(found, text),
        Value::Number(found) => word(&found.to_string(), text),
        Value::Bool(_) | Value::Null => {}
    }
}

fn word(found: &str, text: &mut String) {
    text.push_str(found);
    text.push('\n');
}

/// Whether the character is one of a script without spaces between words: Han, Hiragana or Katakana.
const fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::{searchable, searchable_json};

    #[test]
    fn characters_without_spaces_between_words_become_words() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("東京都", "東 京 都"),
            ("in東京tower", "in 東 京 tower"),
            ("こんにちは、ワールド", "こ ん に ち は 、 ワ ー ル ド"),
            ("a\0b", "a\u{2400}b"),
            ("", ""),
        ] {
            assert_eq!(searchable(text).split_whitespace().collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn inputs_are_searched_by_their_names_texts_and_numbers() {
        let input = r#"{"input_parameters":{"city":"Zürich","deep":[{"lines":"a\nb"},1.5,true,null]}}"#;
        let words = searchable_json(input);
        assert_eq!(words.split_whitespace().collect::<Vec<_>>(), ["city", "Zürich", "deep", "lines", "a", "b", "1.5"]);
        assert_eq!(searchable_json("damaged"), "");
    }
}
