//! Decoders of truth values, numbers, lists and maps.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use registry::RawJson;
use serde_json::{Map, Value as Json, json};

use super::{Decoder, Node, TextDecoder};

/// `true` or `false`.
pub struct Boolean;

/// A whole number within bounds.
pub struct WholeNumber(pub RangeInclusive<i64>);

/// A number within bounds, with or without a fraction.
pub struct Number(pub RangeInclusive<f64>);

/// A list whose length is within bounds.
pub struct List<D> {
    pub items: D,
    pub length: RangeInclusive<usize>,
}

/// A list of exactly two values.
pub struct Pair<A, B>(pub A, pub B);

/// An object whose keys and values are texts.
pub struct TextMap<K, V> {
    pub keys: K,
    pub values: V,
    pub entries_max: usize,
}

/// An object of any content.
pub struct AnyObject;

/// An object of any content, as text. A parsed one takes many times the memory.
pub struct ObjectText;

impl Decoder for Boolean {
    type Value = bool;

    fn schema(&self) -> Json {
        json!({"type": "boolean"})
    }

    fn decode(&self, node: &Node) -> Option<bool> {
        node.read_boolean()
    }
}

impl Decoder for WholeNumber {
    type Value = i64;

    fn schema(&self) -> Json {
        json!({"type": "integer", "minimum": self.0.start(), "maximum": self.0.end()})
    }

    fn decode(&self, node: &Node) -> Option<i64> {
        node.read_whole_number(&self.0)
    }
}

impl Decoder for Number {
    type Value = f64;

    fn schema(&self) -> Json {
        json!({"type": "number", "minimum": self.0.start(), "maximum": self.0.end()})
    }

    fn decode(&self, node: &Node) -> Option<f64> {
        node.read_number(&self.0)
    }
}

impl<D: Decoder> Decoder for List<D> {
    type Value = Vec<D::Value>;

    fn schema(&self) -> Json {
        let mut schema = json!({"type": "array", "maxItems": self.length.end(), "items": self.items.schema()});
        if *self.length.start() > 0 {
            schema["minItems"] = json!(self.length.start());
        }
        schema
    }

    fn decode(&self, node: &Node) -> Option<Vec<D::Value>> {
        let items: Vec<_> = node.read_items(&self.length)?.iter().map(|item| self.items.decode(item)).collect();
        items.into_iter().collect()
    }
}

impl<A: Decoder, B: Decoder> Decoder for Pair<A, B> {
    type Value = (A::Value, B::Value);

    fn schema(&self) -> Json {
        json!({"type": "array", "prefixItems": [self.0.schema(), self.1.schema()], "minItems": 2, "maxItems": 2})
    }

    fn decode(&self, node: &Node) -> Option<Self::Value> {
        let items = node.read_items(&(2..=2))?;
        let (first, second) = (self.0.decode(items.first()?), self.1.decode(items.get(1)?));
        first.zip(second)
    }
}

impl<K: TextDecoder<Value: Ord>, V: Decoder> Decoder for TextMap<K, V> {
    type Value = BTreeMap<K::Value, V::Value>;

    fn schema(&self) -> Json {
        let (names, values) = (self.keys.schema(), self.values.schema());
        let entries_max = self.entries_max;
        json!({"type": "object", "propertyNames": names, "additionalProperties": values, "maxProperties": entries_max})
    }

    fn decode(&self, node: &Node) -> Option<Self::Value> {
        let entry = |(key, value): &(&str, Node)| {
            let parsed = self.keys.parse(key).map_or_else(|error| value.note("value_error", &error), Some);
            parsed.zip(self.values.decode(value))
        };
        let entries: Vec<_> = node.read_entries(self.entries_max)?.iter().map(entry).collect();
        entries.into_iter().collect()
    }
}

impl Decoder for AnyObject {
    type Value = Map<String, Json>;

    fn schema(&self) -> Json {
        json!({"type": "object", "additionalProperties": true})
    }

    fn decode(&self, node: &Node) -> Option<Self::Value> {
        node.read_object().cloned()
    }
}

impl Decoder for ObjectText {
    type Value = RawJson;

    fn schema(&self) -> Json {
        AnyObject.schema()
    }

    fn decode(&self, node: &Node) -> Option<RawJson> {
        node.read_object().map(RawJson::from)
    }
}
