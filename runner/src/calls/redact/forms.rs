//! The byte strings to find for a value of a secret: the value itself, and the encodings that no [reading] decodes.
//!
//! [reading]: super::reading

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Shorter secrets are not redacted, since they would match ordinary words.
pub(super) const SECRET_BYTES_MIN: usize = 8;
/// Digits that a double keeps exactly. A program that reads a longer number as a double loses its last digits.
const DOUBLE_DIGITS: usize = 15;

/// All forms of a value: at most 38.
pub(super) fn of(value: &str) -> Vec<String> {
    let mut forms = without_utf16(value);
    for bytes in encode_utf16(value) {
        forms.extend(list_encodings(&bytes));
        forms.extend(decode_lossy(&bytes).into_iter().flat_map(with_lines));
        forms.extend(with_lines(read_as_characters(&bytes)));
    }
    forms
}

/// The forms of one of many parts: the value, its base64 and its hexadecimal digits.
pub(super) fn without_utf16(value: &str) -> Vec<String> {
    let mut forms = list_most_likely(value);
    forms.extend(with_lines(read_as_characters(value.as_bytes())));
    forms.extend(list_encodings(value.as_bytes()));
    forms
}

/// The forms of a value of long secrets: the value alone.
pub(super) fn list_most_likely(value: &str) -> Vec<String> {
    let mut forms = round_digits(value);
    forms.extend(with_lines(value.to_owned()));
    forms
}

/// A form, and the same form with line feeds in place of all characters at which lines of a stack trace end.
fn with_lines(form: String) -> [String; 2] {
    let is_end = |character: char| {
        matches!(character, '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
    };
    let lines = form.replace("\r\n", "\n").replace(is_end, "\n");
    [form, lines]
}

/// Bytes in hexadecimal and base64.
fn list_encodings(bytes: &[u8]) -> Vec<String> {
    let mut forms = vec![hex::encode(bytes), hex::encode_upper(bytes)];
    for skipped in 0..3 {
        forms.push(encode_aligned(bytes, skipped, &STANDARD_NO_PAD));
        forms.push(encode_aligned(bytes, skipped, &URL_SAFE_NO_PAD));
    }
    forms
}

/// The base64 characters that depend on the secret alone, when `skipped` bytes precede it in a group of three.
fn encode_aligned(secret: &[u8], skipped: usize, engine: &impl base64::Engine) -> String {
    let bytes = [&[0; 2][..skipped], secret].concat();
    let encoded = engine.encode(&bytes);
    let first = (skipped * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    encoded.get(first..end).unwrap_or_default().to_owned()
}

/// UTF-16 in both byte orders, without the zero at the outer end. For ASCII, both are the same bytes then.
fn encode_utf16(secret: &str) -> [Vec<u8>; 2] {
    let mut little: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut big: Vec<u8> = secret.encode_utf16().flat_map(u16::to_be_bytes).collect();
    little.pop_if(|byte| *byte == 0);
    if big.first() == Some(&0) {
        big.remove(0);
    }
    [little, big]
}

/// Every byte as the character with its number: bytes read as Latin-1, or a byte literal with decoded escapes.
fn read_as_characters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Bytes read as UTF-8 with replacement characters, unless too few other characters are left.
fn decode_lossy(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let kept = text.chars().filter(|character| *character != char::REPLACEMENT_CHARACTER).count();
    (kept >= SECRET_BYTES_MIN).then(|| text.into_owned())
}

/// A long number as a program writes it after reading it as a double: `1.2345678901234568e+19`, `12345678901234567000`.
fn round_digits(secret: &str) -> Vec<String> {
    let is_long = secret.len() > DOUBLE_DIGITS && secret.bytes().all(|byte| byte.is_ascii_digit());
    let Some(value) = secret.parse::<f64>().ok().filter(|value| is_long && value.is_finite()) else {
        return Vec::new();
    };
    let exponential = format!("{value:e}");
    let digits = exponential.split_once('e').map_or("", |(digits, _)| digits);
    let forms = [digits.to_owned(), value.to_string()];
    forms.into_iter().filter(|form| form.len() >= SECRET_BYTES_MIN).collect()
}
