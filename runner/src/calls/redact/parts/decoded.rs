//! A value without its quotes, and a value whose encoding a program removes.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use crate::calls::redact::forms::SECRET_BYTES_MIN;
use crate::calls::redact::reading;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// The value without quotes, escapes, percent-encoding, base64 or hexadecimal. Bytes that are no text are left out.
pub(super) fn find_variants(value: &str) -> Vec<String> {
    let mut variants = Vec::new();
    let unquoted = value.trim_matches(is_quote);
    if unquoted.len() < value.len() {
        variants.push(unquoted.to_owned());
    }
    variants.extend(reading::unescape(value));
    if value.contains('%') {
        variants.extend(percent_decode_str(value).decode_utf8().ok().map(|text| text.into_owned()));
    }
    variants.extend([hex::decode(value).ok(), decode_base64(value)].into_iter().flatten().filter_map(read_text));
    variants.retain(|variant| variant != value);
    variants
}

const fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'' | '`' | '\u{2018}'..='\u{201f}' | '\u{ab}' | '\u{bb}')
}

fn decode_base64(value: &str) -> Option<Vec<u8>> {
    let joined: String = value.split_ascii_whitespace().collect();
    BASE64.decode(&joined).or_else(|_| BASE64_URL.decode(&joined)).ok()
}

/// Decoded bytes that are a text. Few random bytes are one.
fn read_text(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let is_shown = |character: char| !character.is_control() || character.is_whitespace();
    (text.len() >= SECRET_BYTES_MIN && text.chars().all(is_shown)).then_some(text)
}
