//! Decoders: each describes one kind of JSON value for the OpenAPI document and reads values of that kind, so that a
//! rule is written once.

use serde_json::Value as Json;

use super::Node;

/// The schema and the reader of one kind of JSON value.
pub trait Decoder {
    type Value;

    /// The JSON Schema of the value.
    fn schema(&self) -> Json;

    /// Reads a value. `None` means that a problem was noted.
    fn decode(&self, node: &Node) -> Option<Self::Value>;

    /// Adds a description to the schema.
    fn described(self, description: &'static str) -> impl Decoder<Value = Self::Value>
    where
        Self: Sized,
    {
        Annotated { decoder: self, annotate: move |schema: &mut Json| schema["description"] = description.into() }
    }

    /// Adds the value that an absent field stands for to the schema.
    fn with_default(self, default: impl Into<Json> + Clone) -> impl Decoder<Value = Self::Value>
    where
        Self: Sized,
    {
        Annotated { decoder: self, annotate: move |schema: &mut Json| schema["default"] = default.clone().into() }
    }
}

struct Annotated<D, A> {
    decoder: D,
    annotate: A,
}

impl<D: Decoder, A: Fn(&mut Json)> Decoder for Annotated<D, A> {
    type Value = D::Value;

    fn schema(&self) -> Json {
        let mut schema = self.decoder.schema();
        (self.annotate)(&mut schema);
        schema
    }

    fn decode(&self, node: &Node) -> Option<D::Value> {
        self.decoder.decode(node)
    }
}
