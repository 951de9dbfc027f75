//! JSON Schemas that the server holds and passes on.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::kit::byte_cache::{HeapBytes, allocated};

/// A JSON Schema as its text. Its values would take ten to a hundred times the memory. Clones share the text.
#[derive(Clone)]
pub struct SchemaText(Arc<RawValue>);

impl SchemaText {
    pub fn of(schema: &Value) -> Self {
        // A value is always JSON.
        Self(to_raw_value(schema).unwrap_or_else(|_| RawValue::NULL.to_owned()).into())
    }

    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Parses the text. A schema is no deeper than a parser reads, which its publication checked.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }
}

impl From<Value> for SchemaText {
    fn from(schema: Value) -> Self {
        Self::of(&schema)
    }
}

// Any JSON. A field whose schemas are always objects says so itself.
impl JsonSchema for SchemaText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SchemaText".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

impl PartialEq for SchemaText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for SchemaText {}

impl PartialEq<Value> for SchemaText {
    fn eq(&self, other: &Value) -> bool {
        self.value() == *other
    }
}

impl fmt::Debug for SchemaText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for SchemaText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SchemaText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

impl HeapBytes for SchemaText {
    fn heap_bytes(&self) -> usize {
        allocated(2 * size_of::<usize>() + self.as_str().len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_keeps_its_text() {
        let schema = json!({"type": "object", "properties": {"b": {}, "a": {"maximum": 1.50}}});
        let text = SchemaText::of(&schema);
        assert_eq!((text.value(), text.as_str()), (schema.clone(), schema.to_string().as_str()));
        assert_eq!(text, schema);
        let read: SchemaText = serde_json::from_str(&schema.to_string()).unwrap();
        assert_eq!((&read, serde_json::to_string(&read).unwrap()), (&text, schema.to_string()));
        assert_eq!(serde_json::from_value::<SchemaText>(schema.clone()).unwrap(), text);
        assert_eq!(serde_json::to_value(&text).unwrap(), schema);
        assert!(text.heap_bytes() < schema.heap_bytes() / 10);
    }
}
