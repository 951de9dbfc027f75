//! The bytes of a file as text. Every reader of text, in builds and in the command line, decodes with this module.
//!
//! Text is UTF-8. A byte order mark at its beginning is no part of it: editors of Windows write one. Other encodings are
//! refused by name, since a reader that takes UTF-16 for UTF-8 finds NUL bytes.

use std::fmt;

const MARK: &str = "\u{feff}";

/// The reason why bytes are not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotText {
    problem: Problem,
    /// The line of the first wrong byte.
    pub line: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Problem {
    Encoding(&'static str),
    Byte { byte: u8, offset: usize },
}

/// Decodes UTF-8, with or without a byte order mark.
///
/// # Errors
/// When the bytes are in another encoding.
pub fn decode_text(bytes: &[u8]) -> Result<&str, NotText> {
    if let Some(name) = detect_other_encoding(bytes) {
        return Err(NotText { problem: Problem::Encoding(name), line: None });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix(MARK).unwrap_or(text)),
        Err(error) => {
            let offset = error.valid_up_to();
            let ends = bytes[..offset].iter().filter(|byte| **byte == b'\n').count();
            let byte = bytes.get(offset).copied().unwrap_or_default();
            Err(NotText { problem: Problem::Byte { byte, offset }, line: u32::try_from(ends + 1).ok() })
        }
    }
}

/// The encoding that a byte order mark, or the place of NUL in the first character, tells. No text in UTF-8 begins so.
fn detect_other_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        // Before UTF-16, whose mark begins this one.
        [0xff, 0xfe, 0, 0, ..] | [1..=255, 0, 0, 0, ..] => Some("UTF-32LE"),
        [0, 0, 0xfe, 0xff, ..] | [0, 0, 0, 1..=255, ..] => Some("UTF-32BE"),
        [0xff, 0xfe, ..] | [1..=255, 0, 1..=255, 0, ..] => Some("UTF-16LE"),
        [0xfe, 0xff, ..] | [0, 1..=255, 0, 1..=255, ..] => Some("UTF-16BE"),
        _ => None,
    }
}

impl fmt::Display for NotText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            Problem::Encoding(name) => write!(
                formatter,
                "the text is encoded in {name}, as PowerShell's `>` writes it; save it as UTF-8, for instance with \
                 `iconv -f {name} -t UTF-8`"
            ),
            Problem::Byte { byte, offset } => write!(
                formatter,
                "the text is not UTF-8: byte 0x{byte:02x} at offset {offset}; save it as UTF-8, for instance from Latin-1 with \
                 `iconv -f ISO-8859-1 -t UTF-8`"
            ),
        }
    }
}

impl std::error::Error for NotText {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        assert_eq!(decode_text("\u{feff}{}".as_bytes()), Ok("{}"));
        assert_eq!(decode_text("{\u{feff}}".as_bytes()), Ok("{\u{feff}}"), "only at the beginning");
        assert_eq!((decode_text(b""), decode_text(b"a"), decode_text(b"a\0")), (Ok(""), Ok("a"), Ok("a\0")));
    }

    #[test]
    fn other_encodings_are_named() {
        let utf_16 = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
        let utf_32 =
            |text: &str, bytes: fn(u32) -> [u8; 4]| text.chars().map(u32::from).flat_map(bytes).collect::<Vec<_>>();
        for mark in ["", MARK] {
            let text = format!("{mark}name = 1\n");
            for (bytes, name) in [
                (utf_16(&text, u16::to_le_bytes), "UTF-16LE"),
                (utf_16(&text, u16::to_be_bytes), "UTF-16BE"),
                (utf_32(&text, u32::to_le_bytes), "UTF-32LE"),
                (utf_32(&text, u32::to_be_bytes), "UTF-32BE"),
            ] {
                let refused = decode_text(&bytes).unwrap_err();
                assert!(refused.to_string().contains(&format!("encoded in {name}")), "{refused}");
            }
        }
    }

    #[test]
    fn a_wrong_byte_has_its_offset_and_line() {
        let refused = decode_text(b"one\ntwo \xfc\n").unwrap_err();
        assert_eq!(refused.line, Some(2));
        assert!(refused.to_string().contains("byte 0xfc at offset 8"), "{refused}");
    }
}
