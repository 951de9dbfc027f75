//! Decoders of texts. Bodies, queries and paths share them.

use std::fmt::Display;
use std::str::FromStr;

use serde_json::{Value as Json, json};

use super::{Decoder, Node};

/// A decoder of a value that is written as text.
pub trait TextDecoder: Decoder {
    /// Reads the text of a query or of a path; the error completes the sentence "The value …".
    fn parse(&self, text: &str) -> Result<Self::Value, String>;
}

/// A text with its schema and its parser.
pub struct Text<T> {
    schema: fn() -> Json,
    parse: fn(&str) -> Result<T, String>,
}

impl<T> Text<T> {
    pub const fn new(schema: fn() -> Json, parse: fn(&str) -> Result<T, String>) -> Self {
        Self { schema, parse }
    }
}

impl<T: FromStr<Err: Display>> Text<T> {
    /// A text that the type's own parser reads.
    pub const fn of_type(schema: fn() -> Json) -> Self {
        Self::new(schema, |text| text.parse().map_err(|error: T::Err| error.to_string()))
    }

    /// The same, without the white space around the text.
    pub const fn trimmed(schema: fn() -> Json) -> Self {
        Self::new(schema, |text| text.trim().parse().map_err(|error: T::Err| error.to_string()))
    }
}

impl<T> Decoder for Text<T> {
    type Value = T;

    fn schema(&self) -> Json {
        (self.schema)()
    }

    fn decode(&self, node: &Node) -> Option<T> {
        node.parse_text(self.parse)
    }
}

impl<T> TextDecoder for Text<T> {
    fn parse(&self, text: &str) -> Result<T, String> {
        (self.parse)(text)
    }
}

/// Any text.
pub const fn any_text() -> Text<String> {
    Text::new(|| json!({"type": "string"}), |text| Ok(text.to_owned()))
}

/// Any text of at most so many characters.
pub const fn text_within<const CHARACTERS_MAX: usize>() -> Text<String> {
    Text::new(
        || json!({"type": "string", "maxLength": CHARACTERS_MAX}),
        |text| {
            let fits = text.chars().nth(CHARACTERS_MAX).is_none();
            fits.then(|| text.to_owned()).ok_or_else(|| format!("should have at most {CHARACTERS_MAX} characters"))
        },
    )
}

/// A choice of fixed words.
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy + 'static> OneOf<T> {
    fn find(&self, text: &str) -> Result<T, String> {
        let found = self.0.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| format!("should be one of: {}", self.words().join(", ")))
    }

    fn words(&self) -> Vec<&'static str> {
        self.0.iter().map(|(word, _)| *word).collect()
    }
}

impl<T: Copy + 'static> Decoder for OneOf<T> {
    type Value = T;

    fn schema(&self) -> Json {
        json!({"type": "string", "enum": self.words()})
    }

    fn decode(&self, node: &Node) -> Option<T> {
        self.find(node.read_text()?).map_or_else(|error| node.note("enum", &format!("Input {error}")), Some)
    }
}

impl<T: Copy + 'static> TextDecoder for OneOf<T> {
    fn parse(&self, text: &str) -> Result<T, String> {
        self.find(text)
    }
}
