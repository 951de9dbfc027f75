//! Values that are as large as a request may be, in the forms that cost most.

use serde_json::{Map, Value, json};

/// The bound of a JSON body.
pub const BODY_BYTES: usize = 1 << 20;
/// Bytes of path and query, with room for the path.
const QUERY_BYTES: usize = 7 << 10;

/// The form of a large value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `[[],[],…]`: three bytes of text are a list in memory.
    Lists,
    /// `{"aaaa":0,…}`: an entry of a map for each ten bytes.
    Members,
    /// A long text with characters that JSON escapes again.
    Text,
}

impl Shape {
    pub const ALL: [Self; 3] = [Self::Lists, Self::Members, Self::Text];

    /// A value of about so many bytes of JSON.
    pub fn text(self, bytes: usize) -> String {
        match self {
            Self::Lists => format!("[{}[]]", "[],".repeat(bytes.saturating_sub(4) / 3)),
            Self::Members => {
                let members: Vec<_> = (0..bytes / 10).map(|number| format!("\"{}\":0", base36(number))).collect();
                format!("{{{}}}", members.join(","))
            }
            Self::Text => format!("\"{}\"", "\\\"".repeat(bytes / 2)),
        }
    }
}

/// Six characters, different for each number below 36⁶.
fn base36(mut number: usize) -> String {
    let mut digits = [b'0'; 5];
    for digit in &mut digits {
        *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
        number /= 36;
    }
    String::from_utf8_lossy(&digits).into_owned()
}

/// An object with a member more, which fills the body up to its bound. `place` is the member, which an object of any content has.
pub fn filled(base: &Value, place: &str, shape: Shape, bytes: usize) -> Vec<u8> {
    const MARK: &str = "\u{1}place";
    let mut base = base.clone();
    base.pointer_mut(place).and_then(Value::as_object_mut).expect("an object").insert("zz".into(), json!(MARK));
    let text = base.to_string();
    let mark = json!(MARK).to_string();
    let room = bytes.saturating_sub(text.len() - mark.len() + 16);
    text.replace(&mark, &shape.text(room)).into_bytes()
}

/// A query of the longest form: many parameters that are unknown, after those that count, if unknown ones are ignored.
pub fn query(known: &[(String, String)], accepts_unknown: bool) -> String {
    let known: Vec<_> = known.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let mut query = known.join("&");
    if !accepts_unknown {
        return query;
    }
    let unknown = 150;
    let value = "%25".repeat((QUERY_BYTES.saturating_sub(query.len()) / unknown).saturating_sub(6) / 3);
    (0..unknown).for_each(|number| query.push_str(&format!("&z{number}={value}")));
    query
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The largest value that a schema admits, as far as its keywords tell. `number` makes names differ.
pub fn largest(schema: &Value, number: usize) -> Value {
    if let Some(known) = schema.get("const").or_else(|| schema["enum"].get(0)).or_else(|| schema.get("default")) {
        return known.clone();
    }
    if let Some(forms) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        return largest(&forms[0], number);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].as_str(),
        one => one.as_str(),
    };
    match kind {
        Some("string") => json!(text_of(schema, number)),
        Some("array") => {
            let count = usize::try_from(schema["maxItems"].as_u64().unwrap_or(1)).expect("a few");
            (0..count).map(|index| largest(&schema["items"], 1_000_000 * number + index)).collect()
        }
        Some("object") => {
            let properties = schema["properties"].as_object().cloned().unwrap_or_default();
            Value::Object(
                properties.iter().map(|(name, one)| (name.clone(), largest(one, number))).collect::<Map<_, _>>(),
            )
        }
        Some("integer" | "number") => {
            schema.get("maximum").or_else(|| schema.get("minimum")).cloned().unwrap_or(json!(1))
        }
        Some("boolean") => json!(true),
        _ => json!({"x": "y".repeat(8 << 10)}),
    }
}

fn text_of(schema: &Value, number: usize) -> String {
    let length = usize::try_from(schema["maxLength"].as_u64().unwrap_or(64)).expect("a length");
    if schema["pattern"].as_str().is_some_and(|pattern| pattern.contains('/')) {
        return "text/plain".into();
    }
    let number = number.to_string();
    format!("{}{number}", "x".repeat(length.saturating_sub(number.len())))
}
