//! Texts in the encodings of programs, made without the code under test.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

/// The name of an encoding, and a text in it.
pub type Encoded = (&'static str, String);

/// Escapes the characters of a literal: those in `special` with a backslash, those beyond ASCII with `other`.
fn literal(text: &str, special: &str, other: impl Fn(char) -> String) -> String {
    let escaped = text.chars().map(|character| match character {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        character if special.contains(character) => format!("\\{character}"),
        character if character.is_ascii_graphic() || character == ' ' => character.to_string(),
        character => other(character),
    });
    escaped.collect()
}

fn units(character: char, is_upper: bool) -> String {
    let mut buffer = [0; 2];
    let units = character.encode_utf16(&mut buffer).iter();
    units.map(|unit| if is_upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") }).collect()
}

fn python_ascii(text: &str) -> String {
    literal(text, "\\'", |character| match u32::from(character) {
        code @ ..=0xff => format!("\\x{code:02x}"),
        code @ ..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    })
}

fn python_bytes(bytes: &[u8]) -> String {
    let characters: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    format!("b'{}'", literal(&characters, "\\'", |character| format!("\\x{:02x}", u32::from(character))))
}

fn wrapped(text: &str, columns: usize, line_end: &str) -> String {
    let lines: Vec<&str> = text.as_bytes().chunks(columns).map(|line| std::str::from_utf8(line).unwrap()).collect();
    lines.join(line_end)
}

fn percent(text: &str, kept: &str) -> String {
    let encode = |character: char| {
        let text = character.to_string();
        if kept.contains(character) { text } else { utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string() }
    };
    text.chars().map(encode).collect()
}

fn lower_digits(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| format!("{text}%{}{}", part[..2].to_lowercase(), &part[2..]))
}

fn utf16(text: &str, order: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Literals of languages.
pub fn literals(text: &str) -> Vec<Encoded> {
    let json_text = json!(text).to_string();
    let ascii = literal(text, "\\\"", |character| units(character, false));
    vec![
        ("JSON", json_text.clone()),
        ("JSON within JSON", json!({"a": [json_text]}).to_string()),
        ("JSON, ASCII", ascii.clone()),
        ("JSON, ASCII, within JSON", json!(ascii).to_string()),
        ("JSON, upper-case digits", literal(text, "\\\"", |character| units(character, true))),
        ("JSON, every character as an escape", text.chars().map(|character| units(character, false)).collect()),
        ("JSON with \\/", json!(text).to_string().replace('/', "\\/")),
        ("JavaScript", literal(text, "\\'`$", |character| format!("\\u{{{:x}}}", u32::from(character)))),
        ("Python repr", literal(text, "\\'", String::from)),
        ("Python ascii", python_ascii(text)),
        ("Python repr within JSON", json!(python_ascii(text)).to_string()),
        ("Python bytes", python_bytes(text.as_bytes())),
    ]
}

/// Base64 and hexadecimal.
pub fn binary(text: &str) -> Vec<Encoded> {
    let standard = STANDARD.encode(text);
    vec![
        ("base64 without padding", STANDARD_NO_PAD.encode(text)),
        ("base64url", URL_SAFE.encode(text)),
        ("base64url without padding", URL_SAFE_NO_PAD.encode(text)),
        ("base64, 76 columns", wrapped(&standard, 76, "\n")),
        ("base64, 64 columns, \\r\\n", wrapped(&standard, 64, "\r\n")),
        ("base64, 16 columns, indented", wrapped(&standard, 16, "\n    ")),
        ("base64, 8 columns, in JSON", json!(wrapped(&standard, 8, "\r\n")).to_string()),
        ("base64 of Python's encodebytes, as bytes", python_bytes(wrapped(&standard, 76, "\n").as_bytes())),
        ("base64, percent-encoded", percent(&standard, "")),
        ("base64, JSON with \\/", standard.replace('/', "\\/")),
        ("base64", standard),
        ("hexadecimal", hex::encode(text)),
        ("hexadecimal, upper case", hex::encode_upper(text)),
        ("hexadecimal, 32 columns", wrapped(&hex::encode(text), 32, "\n")),
    ]
}

/// URLs and forms.
pub fn urls(text: &str) -> Vec<Encoded> {
    const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    let python = utf8_percent_encode(text, COMPONENT).to_string();
    vec![
        ("everything percent-encoded", text.bytes().map(|byte| format!("%{byte:02X}")).collect()),
        ("encodeURI", percent(text, "-_.!~*'();/?:@&=+$,#")),
        ("encodeURIComponent", percent(text, "-_.!~*'()")),
        ("form", percent(text, "*-._ ").replace(' ', "+")),
        ("Python's quote_plus", python.replace("%20", "+")),
        ("lower-case digits", lower_digits(&python)),
        ("JSON in a URL", percent(&json!(text).to_string(), "")),
        ("a URL in JSON with \\/", json!(percent(text, "/")).to_string().replace('/', "\\/")),
        ("percent-encoded twice", percent(&percent(text, ""), "")),
        ("Python's quote", python),
    ]
}

/// UTF-16 as text with zeros, and as bytes.
fn wide(text: &str) -> Vec<Encoded> {
    let (little, big) = (utf16(text, u16::to_le_bytes), utf16(text, u16::to_be_bytes));
    vec![
        ("UTF-16 read as Latin-1", latin1(&little)),
        ("UTF-16, big-endian, read as Latin-1", latin1(&big)),
        ("UTF-16 in JSON", json!(latin1(&little)).to_string()),
        ("UTF-16 in JSON, upper-case digits", literal(&latin1(&little), "\\\"", |character| units(character, true))),
        ("UTF-16, big-endian, in JSON", json!(latin1(&big)).to_string()),
        ("UTF-16 as Python's bytes", python_bytes(&little)),
        ("UTF-16 in hexadecimal", hex::encode(&little)),
        ("UTF-16, big-endian, in upper-case hexadecimal", hex::encode_upper(&big)),
        ("UTF-16 in base64", STANDARD.encode(&little)),
        ("UTF-16, big-endian, in base64url", URL_SAFE_NO_PAD.encode(&big)),
    ]
}

pub fn all(text: &str) -> Vec<Encoded> {
    [vec![("as it is", text.to_owned())], literals(text), binary(text), urls(text), wide(text)].concat()
}
