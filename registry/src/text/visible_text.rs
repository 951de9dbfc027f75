//! Texts of authors, clients and models as people see them: characters that are not seen, or that change how others are seen, are
//! shown as escapes.
//!
//! This is the only list of such characters. Confirmations, the page that asks for a client's access, the command line, logs and
//! messages of git use it.

use std::borrow::Cow;

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, WhiteSpace};
use icu_properties::{CodePointMapData, CodePointSetData};

/// Spaces in a row that are shown as they are. More push what follows out of sight.
const SPACES_MAX: usize = 3;

/// Characters that look empty, and have another category: a braille pattern without dots, a note without a head, and the place of an
/// object.
const BLANKS: [char; 3] = ['\u{2800}', '\u{1d159}', '\u{fffc}'];

/// Ends of lines that may be in a JSON string as they are. JSON escapes all others.
const LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Whether a character is not seen as itself, or changes how others are seen: controls, formats such as marks of direction and tags,
/// ignorable characters such as variation selectors and fillers, private and unassigned ones, and white space other than a space.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    use GeneralCategory as Category;
    match character {
        ' '..='~' => return false,
        '\0'..='\u{a0}' => return true,
        _ => {}
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    let is_of_category = matches!(
        category,
        Category::Control
            | Category::Format
            | Category::PrivateUse
            | Category::Surrogate
            | Category::Unassigned
            | Category::LineSeparator
            | Category::ParagraphSeparator
            | Category::SpaceSeparator
    );
    is_of_category
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
        || CodePointSetData::new::<WhiteSpace>().contains(character)
        || BLANKS.contains(&character)
}

/// Shows a text on one line. Hidden characters are escaped as in Rust, such as `\u{202e}`, and so are many spaces in a row.
#[must_use]
pub fn visible(text: &str) -> String {
    escape(text, |character, position| is_hidden(character) || is_beyond(character, position), push_braces)
}

/// Shows a text of several lines: as [`visible`], with line ends, tabs and all spaces, which indent code and tables.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    escape(text, |character, _| is_hidden(character) && !matches!(character, '\n' | '\t'), push_braces)
}

/// Shows a JSON text on one line: as [`visible`], with JSON's own escapes, so that it stays the same value.
#[must_use]
pub fn visible_json(json: &str) -> String {
    escape(json, |character, position| is_hidden(character) || is_beyond(character, position), push_json)
}

/// Shows a JSON document with line ends and indentation: hidden characters are JSON's own escapes.
#[must_use]
pub fn visible_document(json: &str) -> String {
    escape(json, |character, _| is_hidden(character) && character != '\n', push_json)
}

/// A JSON text as one line for every reader: characters that some readers of lines take for the end of a line, and JSON does not,
/// become escapes. Python's `splitlines` is such a reader, with which HTTP clients read events.
#[must_use]
pub fn json_line(json: &str) -> Cow<'_, str> {
    if !json.contains(LINE_ENDS) {
        return Cow::Borrowed(json);
    }
    Cow::Owned(escape(json, |character, _| LINE_ENDS.contains(&character), push_json))
}

/// Whether a character is a space after many others.
fn is_beyond(character: char, spaces_before: usize) -> bool {
    character == ' ' && spaces_before >= SPACES_MAX
}

/// Escapes characters. The test gets each character and the number of spaces right before it.
fn escape(text: &str, is_escaped: impl Fn(char, usize) -> bool, push: impl Fn(&mut String, char)) -> String {
    let (mut shown, mut spaces) = (String::with_capacity(text.len()), 0);
    for character in text.chars() {
        if is_escaped(character, spaces) {
            push(&mut shown, character)
        } else {
            shown.push(character)
        }
        spaces = if character == ' ' { spaces + 1 } else { 0 };
    }
    shown
}

fn push_braces(shown: &mut String, character: char) {
    shown.extend(character.escape_unicode());
}

/// Characters beyond four hexadecimal digits are two escapes in JSON.
fn push_json(shown: &mut String, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        shown.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One or more of each kind that was found to hide text.
    const HIDDEN: [char; 62] = [
        '\0',
        '\t',
        '\n',
        '\r',
        '\u{1b}',
        '\u{7f}',
        '\u{80}',
        '\u{85}',
        '\u{9b}',
        '\u{9f}',
        '\u{a0}',
        '\u{ad}',
        '\u{34f}',
        '\u{600}',
        '\u{61c}',
        '\u{70f}',
        '\u{115f}',
        '\u{1160}',
        '\u{1680}',
        '\u{17b4}',
        '\u{17b5}',
        '\u{180b}',
        '\u{180e}',
        '\u{180f}',
        '\u{2000}',
        '\u{200a}',
        '\u{200b}',
        '\u{200d}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{2029}',
        '\u{202a}',
        '\u{202e}',
        '\u{202f}',
        '\u{205f}',
        '\u{2060}',
        '\u{2065}',
        '\u{2066}',
        '\u{2069}',
        '\u{206f}',
        '\u{2800}',
        '\u{3000}',
        '\u{3164}',
        '\u{e000}',
        '\u{f8ff}',
        '\u{fe00}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{ffa0}',
        '\u{fff0}',
        '\u{fff9}',
        '\u{fffb}',
        '\u{fffc}',
        '\u{ffff}',
        '\u{1d159}',
        '\u{1d173}',
        '\u{e0001}',
        '\u{e0041}',
        '\u{e0100}',
        '\u{e01ef}',
        '\u{10fffd}',
    ];

    #[test]
    fn hidden_characters_are_shown_as_escapes() {
        for character in HIDDEN {
            assert!(is_hidden(character), "{character:?}");
            let escape = format!("a{}b", character.escape_unicode());
            assert_eq!(visible(&format!("a{character}b")), escape);
        }
        assert_eq!(visible_lines("a\n\tb\r\u{202e}    c"), "a\n\tb\\u{d}\\u{202e}    c");
    }

    #[test]
    fn letters_of_all_scripts_and_signs_are_seen() {
        for text in [
            "Zoë wrote: \"1 + 1 = 2\"!",
            "日本語、中文",
            "العربية",
            "हिन्दी",
            "ภาษาไทย",
            "한국어",
            "🙂 €5 – “ok” ✓",
            "a\u{301}",
        ] {
            assert_eq!(visible(text), text);
            assert_eq!(visible_json(text), text);
        }
    }

    #[test]
    fn escaped_json_is_the_same_value() {
        for character in HIDDEN {
            let value = serde_json::json!({"to": format!("a{character}b"), "many": " ".repeat(100)});
            let shown = visible_json(&value.to_string());
            assert!(!shown.chars().any(is_hidden) && !shown.contains(&" ".repeat(SPACES_MAX + 1)), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
            let pretty = visible_document(&serde_json::to_string_pretty(&value).unwrap());
            assert!(!pretty.chars().any(|c| is_hidden(c) && c != '\n'), "{pretty}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty).unwrap(), value);
        }
    }

    #[test]
    fn json_is_one_line_for_readers_with_other_ends_of_lines() {
        let value = serde_json::json!({"a": "x\u{2028}y\u{85}z\u{2029}", "\u{2028}": 1});
        let text = value.to_string();
        let line = json_line(&text);
        assert!(!line.contains(LINE_ENDS), "{line}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), value);
        assert!(matches!(json_line("{\"a\": \"é\"}"), Cow::Borrowed(_)));
    }

    #[test]
    fn many_spaces_are_seen() {
        assert_eq!(visible("a   b"), "a   b");
        assert_eq!(visible("a     b"), "a   \\u{20}\\u{20}b");
    }
}
