//! A problem of a request and its location: one entry of a 422 response.

use schemars::JsonSchema;
use serde::Serialize;

/// One step on the path to the wrong value: a field name or an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum LocationStep {
    Name(String),
    Index(usize),
}

impl From<&str> for LocationStep {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// A problem of a request: its location, a message, and a stable name for the kind of problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    pub loc: Vec<LocationStep>,
    pub msg: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
}

/// Bytes of a field's name in a location. Names of a body's own fields are shorter; others are a client's.
const NAME_BYTES_MAX: usize = 128;
/// Bytes of a message, which may quote what a client sent.
const MESSAGE_BYTES_MAX: usize = 1_024;

impl Problem {
    /// Long names and messages are cut: a body of a megabyte could repeat its longest text in each of its problems.
    pub fn new(loc: Vec<LocationStep>, kind: &'static str, msg: impl Into<String>) -> Self {
        let loc = loc.into_iter().map(|step| match step {
            LocationStep::Name(name) => LocationStep::Name(cut(name, NAME_BYTES_MAX)),
            LocationStep::Index(index) => LocationStep::Index(index),
        });
        Self { loc: loc.collect(), msg: cut(msg.into(), MESSAGE_BYTES_MAX), kind }
    }
}

/// The beginning of a long text, with a mark of the cut.
fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_and_messages_are_cut() {
        let location = vec!["body".into(), LocationStep::Name("é".repeat(1_000)), LocationStep::Index(7)];
        let Problem { loc, msg, .. } = Problem::new(location, "value_error", "x".repeat(1 << 20));
        assert_eq!(loc, ["body".into(), LocationStep::Name(format!("{}…", "é".repeat(64))), LocationStep::Index(7)]);
        assert_eq!(msg, format!("{}…", "x".repeat(MESSAGE_BYTES_MAX)));
    }
}
