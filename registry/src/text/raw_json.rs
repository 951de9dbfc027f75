//! JSON that is passed on unparsed.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::strict_json::parse_json;

/// A JSON text that was validated but not parsed into values, which would take many times the memory: 1 MiB of empty lists takes 16 MiB, and of
/// objects with one member each 83 MiB.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// A text as JSON.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::of(&text)
    }

    /// An object with these members.
    pub(crate) fn of_members(members: &BTreeMap<&str, &Self>) -> Self {
        Self::of(members)
    }

    /// Texts, and maps of them and of other JSON, can always be written.
    fn of(value: &impl Serialize) -> Self {
        Self(to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// Bytes of the text.
    pub fn bytes(&self) -> usize {
        self.as_str().len()
    }

    /// Reads an object of a client, a tool or a model.
    ///
    /// # Errors
    /// When the text is no unambiguous JSON object.
    pub fn parse_object(text: &str) -> serde_json::Result<Self> {
        match parse_json(text.as_bytes())? {
            Value::Object(members) => Ok(Self::from(members)),
            _ => Err(serde_json::Error::custom("it is no object")),
        }
    }

    /// Parses the members of an object.
    ///
    /// # Errors
    /// When the JSON is no object, or nests too deeply to be read again.
    pub fn members(&self) -> serde_json::Result<Map<String, Value>> {
        serde_json::from_str(self.as_str())
    }

    pub(crate) fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }
}

impl From<&Map<String, Value>> for RawJson {
    fn from(members: &Map<String, Value>) -> Self {
        Self::of(members)
    }
}

impl From<Map<String, Value>> for RawJson {
    fn from(members: Map<String, Value>) -> Self {
        Self::from(&members)
    }
}

/// An object without members.
impl Default for RawJson {
    fn default() -> Self {
        Self::from(Map::new())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}
