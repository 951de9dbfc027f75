//! The lines of a secret, and the items of a secret that is a list.

use crate::calls::redact::armour::is_armour;
use crate::calls::redact::forms::SECRET_BYTES_MIN;

/// Letters of a word among words. A longer one is no word of a sentence.
const WORD_BYTES_MAX: usize = 15;

/// The lines of a value that has several.
pub(super) fn find_lines(value: &str) -> Vec<String> {
    let lines = split_lines(value);
    if lines.len() > 1 { lines.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// The lines of a value without line ends between them, and a key file without its marks. A text has the lines of a key file with other
/// line ends or none; the search leaves out line ends.
pub(super) fn join_lines(value: &str) -> Vec<String> {
    let lines = split_lines(value);
    let is_border = |line: &&str| line.is_empty() || line.contains(": ") || is_armour(line);
    let mut parts: Vec<String> = lines.split(is_border).map(<[&str]>::concat).collect();
    parts.extend(find_armoured(value));
    if lines.len() > 1 {
        parts.push(lines.concat());
        // Lines that are searched are found between other line ends, too, also in base64.
        if lines.iter().any(|line| (1..SECRET_BYTES_MIN).contains(&line.len())) {
            parts.extend(["\n", "\r\n"].map(|line_end| lines.join(line_end)));
        }
    }
    parts.retain(|part| part != value);
    parts
}

fn split_lines(value: &str) -> Vec<&str> {
    value.split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']).map(str::trim).collect()
}

/// The bytes between the marks of a key file, without blanks. Some configurations replace its line ends by spaces.
fn find_armoured(value: &str) -> Option<String> {
    let (_, rest) = value.split_once("-----BEGIN ")?;
    let (_, rest) = rest.split_once("-----")?;
    let body = rest.split_once("-----END ").map_or(rest, |(body, _)| body);
    Some(body.split_whitespace().collect())
}

/// The items of a list whose separators are commas, semicolons, bars or blanks.
pub(super) fn find_items(value: &str) -> Vec<String> {
    let is_url = value.contains("://") && !value.contains(char::is_whitespace);
    // Parts of a URL are found otherwise, and its hosts are no secrets.
    let separators: &[char] = if is_url { &[';'] } else { &[',', ';', '|'] };
    let mut items: Vec<String> = Vec::new();
    if value.contains(separators) {
        items.extend(value.split(separators).map(str::to_owned));
    }
    if value.contains(char::is_whitespace) {
        items.extend(value.split_whitespace().filter(|item| !is_word(item)).map(str::to_owned));
    }
    items
}

/// Whether an item among blanks is a word of a sentence, or the name before a value.
fn is_word(item: &str) -> bool {
    let letters = item.trim_matches(|character: char| character.is_ascii_punctuation());
    item.ends_with([':', '=']) || letters.len() <= WORD_BYTES_MAX && letters.chars().all(char::is_alphabetic)
}
