//! Unambiguous JSON: a key that occurs twice in one object is refused, and so is a whole number that does not fit into
//! 64 bits, because it would become another number. All JSON of clients, authors, tools and models passes this parser, over HTTP, over MCP,
//! on the command line and in files of projects.
//!
//! serde_json bounds the depth to 128 levels; the reader of a text bounds its size.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Map, Number, Value};

const SAME_KEY: &str = "an object has the same key twice";

/// Parses `bytes` as one JSON value.
///
/// # Errors
/// What is wrong, with its line and column.
pub fn parse_json(bytes: &[u8]) -> Result<Value, Error> {
    let Strict(value) = serde_json::from_slice(bytes)?;
    check_numbers(bytes)?;
    Ok(value)
}

/// Reads `bytes` as a document of some type.
///
/// # Errors
/// What is wrong, with its line and column.
pub fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    check_json(bytes)?;
    serde_json::from_slice(bytes)
}

/// Checks that `bytes` are one JSON value, without making it: a parsed document may take eighty times the memory of its text.
///
/// # Errors
/// What is wrong, with its line and column.
pub fn check_json(bytes: &[u8]) -> Result<(), Error> {
    let Checked = serde_json::from_slice(bytes)?;
    check_numbers(bytes)
}

/// Refuses a valid JSON document with a whole number that does not fit into 64 bits.
fn check_numbers(document: &[u8]) -> Result<(), Error> {
    let mut rest = document;
    while let [first, after @ ..] = rest {
        rest = match first {
            b'"' => skip_string(after),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = rest.iter().take_while(|byte| is_part(byte)).count();
                let (number, after) = rest.split_at(length);
                if is_integer_beyond_64_bits(number) {
                    let (line, column) = find_position(document, document.len() - rest.len());
                    let problem = "a whole number does not fit into 64 bits";
                    return Err(Error::custom(format!("{problem} at line {line} column {column}")));
                }
                after
            }
            _ => after,
        }
    }
    Ok(())
}

/// The line and the column of a byte, both from 1, as in the errors of the parser.
fn find_position(document: &[u8], offset: usize) -> (usize, usize) {
    let before = document.get(..offset).unwrap_or_default();
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    (1 + before.iter().filter(|byte| **byte == b'\n').count(), 1 + offset - line_start)
}

/// Returns the rest of a document after the string whose content begins here.
fn skip_string(content: &[u8]) -> &[u8] {
    let mut rest = content;
    loop {
        rest = match rest {
            [b'\\', _, after @ ..] => after,
            [b'"', after @ ..] => return after,
            [_, after @ ..] => after,
            [] => return rest,
        }
    }
}

fn is_integer_beyond_64_bits(number: &[u8]) -> bool {
    let is_whole = !number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    let text = str::from_utf8(number).unwrap_or_default();
    is_whole && text.parse::<u64>().is_err() && text.parse::<i64>().is_err()
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(SAME_KEY));
            }
            map.insert(key, entries.next_value::<Strict>()?.0);
        }
        Ok(Value::Object(map))
    }
}

/// A value that was checked and dropped.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CheckVisitor)
    }
}

struct CheckVisitor;

impl<'de> Visitor<'de> for CheckVisitor {
    type Value = Checked;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_str<E>(self, _: &str) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Checked, A::Error> {
        while items.next_element::<Checked>()?.is_some() {}
        Ok(Checked)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Checked, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom(SAME_KEY));
            }
            entries.next_value::<Checked>()?;
        }
        Ok(Checked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses and checks a text, which must agree.
    fn parse(text: &[u8]) -> Result<Value, String> {
        let parsed = parse_json(text).map_err(|error| error.to_string());
        let checked = check_json(text).map_err(|error| error.to_string());
        assert_eq!(parsed.as_ref().err(), checked.as_ref().err(), "{}", String::from_utf8_lossy(text));
        parsed
    }

    #[test]
    fn a_plain_document_is_read() {
        let text = br#"{"a":[1,-2,2.5,true,null,"x"],"b":{}}"#;
        assert_eq!(parse(text).unwrap(), serde_json::json!({"a": [1, -2, 2.5, true, null, "x"], "b": {}}));
    }

    #[test]
    fn whole_numbers_keep_their_value_or_are_refused() {
        for text in ["18446744073709551615", "-9223372036854775808", "-0", "1e30", "12345678901234567890123.0"] {
            assert!(parse(format!("[{text}]").as_bytes()).is_ok(), "{text}");
        }
        for text in ["18446744073709551616", "-9223372036854775809", "1234567890123456789012345678901234567890"] {
            assert!(parse(format!("{{\"a\": {text}}}").as_bytes()).is_err(), "{text}");
            let quoted = format!(r#"{{"{text}": "\" {text} \\"}}"#);
            assert!(parse(quoted.as_bytes()).is_ok(), "{quoted}");
        }
    }

    #[test]
    fn ambiguous_or_broken_documents_are_refused() {
        let deep = "[".repeat(200);
        for text in
            [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"a":2}}]"#, "{", "", "1 2", "NaN", r#""\ud800""#, "1e400", &deep]
        {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn the_position_of_a_fault_is_told() {
        let told = |text: &str| parse(text.as_bytes()).unwrap_err();
        assert_eq!(
            told("{\n \"a\": 18446744073709551616}"),
            "a whole number does not fit into 64 bits at line 2 column 7"
        );
        assert_eq!(told("[18446744073709551616]"), "a whole number does not fit into 64 bits at line 1 column 2");
        assert!(told("{\"a\": 1,\n \"a\": 1}").starts_with("an object has the same key twice at line 2"));
    }
}
