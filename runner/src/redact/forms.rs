//! The forms in which a secret may turn up.

use std::fmt::Write;

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What `encodeURIComponent` leaves as it is, besides letters and digits.
const COMPONENT: &AsciiSet = &PYTHON.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
/// What Python's `quote` leaves as it is.
const PYTHON: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// And with the slash, which it leaves by default.
const PYTHON_PATH: &AsciiSet = &PYTHON.remove(b'/');

/// Lines of a secret that are looked for alone; shorter ones may be words of any text.
const LINE_BYTES_MIN: usize = 16;

pub(super) fn of(secret: &str) -> Vec<String> {
    let mut forms = written(secret);
    forms.extend(lines(secret));
    forms.extend([hex::encode(secret), hex::encode_upper(secret)]);
    for skipped in 0..3 {
        forms.push(aligned(secret.as_bytes(), skipped, &STANDARD_NO_PAD));
        forms.push(aligned(secret.as_bytes(), skipped, &URL_SAFE_NO_PAD));
    }
    for kept in [NON_ALPHANUMERIC, COMPONENT, PYTHON, PYTHON_PATH] {
        let encoded = utf8_percent_encode(secret, kept).to_string();
        forms.push(encoded.replace("%20", "+"));
        forms.push(lower(&encoded));
        forms.push(encoded);
    }
    forms.push(secret.chars().flat_map(|character| [character, '\0']).collect());
    forms
}

/// The forms of long secrets: as they are, in JSON, and line by line.
pub(super) fn most_likely(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), literal(secret, false, '"', false), literal(secret, true, '"', false)];
    forms.extend(lines(secret));
    forms
}

fn lines(secret: &str) -> impl Iterator<Item = String> {
    secret.lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES_MIN).map(str::to_owned)
}

/// As a text and as a literal of JSON, JavaScript or Python; as one of JSON within JSON, too.
fn written(secret: &str) -> Vec<String> {
    let json = |is_ascii: bool, quote: char, is_upper: bool| literal(secret, is_ascii, quote, is_upper);
    let (plain, ascii) = (json(false, '"', false), json(true, '"', false));
    vec![
        secret.to_owned(),
        literal(&plain, false, '"', false),
        literal(&ascii, true, '"', false),
        plain,
        ascii,
        json(false, '\'', false),
        json(false, '\0', false),
        json(true, '"', true),
        json(true, '\'', false),
    ]
}

/// What stands between the quotes; control characters as JSON and Python write them, the rest as it is or as `\uXXXX`.
fn literal(secret: &str, is_ascii: bool, quote: char, is_upper: bool) -> String {
    let mut text = String::with_capacity(secret.len() + 8);
    for character in secret.chars() {
        match character {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            quoted if quoted == quote => text.extend(['\\', quoted]),
            plain if !plain.is_control() && (plain.is_ascii() || !is_ascii) => text.push(plain),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = if is_upper { write!(text, "\\u{unit:04X}") } else { write!(text, "\\u{unit:04x}") };
                }
            }
        }
    }
    text
}

/// The characters of base64 that the secret alone decides when `skipped` bytes stand before it in a group of three.
fn aligned(secret: &[u8], skipped: usize, engine: &impl base64::Engine) -> String {
    let bytes = [&[0; 2][..skipped], secret].concat();
    let encoded = engine.encode(&bytes);
    let first = (skipped * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    encoded.get(first..end).unwrap_or_default().to_owned()
}

/// With the digits of percent-encoding in lower case, as some write them.
fn lower(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        text.push('%');
        text.push_str(&digits.to_ascii_lowercase());
        text.push_str(rest);
    }
    text
}
