//! Truncated values for messages.

use std::io;

use serde_json::Value;

const CHARACTERS_MAX: usize = 40;
/// An upper bound for the bytes of [`CHARACTERS_MAX`] characters.
const BYTES_MAX: usize = 8 * CHARACTERS_MAX;

/// The JSON of a value, truncated. Only the beginning of a long value is serialised.
pub(super) fn quote(value: &Value) -> String {
    let mut text = Quoted(Vec::new());
    // The writer fails once it has enough bytes.
    let is_whole = serde_json::to_writer(&mut text, value).is_ok();
    let text = String::from_utf8_lossy(&text.0);
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if is_whole => text.into_owned(),
        None => format!("{text}…"),
    }
}

/// A writer that keeps the first bytes of a value.
struct Quoted(Vec<u8>);

impl io::Write for Quoted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = BYTES_MAX.saturating_sub(self.0.len());
        if left == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.len().min(left);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_value_is_cut() {
        assert_eq!(quote(&json!({"a": [1, "x"]})), r#"{"a":[1,"x"]}"#);
        assert_eq!(quote(&json!("é".repeat(100))), format!("\"{}…", "é".repeat(39)));
        assert_eq!(quote(&json!(vec![1; 1_000_000])).chars().count(), 41);
    }
}
