//! Decoders of objects with known fields. A closure declares the fields of an object: with a JSON value it decodes the
//! object, without one it builds the JSON Schema.

use serde_json::{Map, Value as Json, json};

use super::{Decoder, Node};

/// The fields of an object that is read or described.
pub struct Fields<'a> {
    /// `None` while the schema is made.
    node: Option<&'a Node<'a>>,
    schema: Map<String, Json>,
}

/// Decoder of an object whose fields the closure declares.
pub struct Object<F>(pub F);

impl<T, F: Fn(&mut Fields) -> Option<T>> Decoder for Object<F> {
    type Value = T;

    fn schema(&self) -> Json {
        build_schema(&self.0)
    }

    fn decode(&self, node: &Node) -> Option<T> {
        node.read_object()?;
        (self.0)(&mut Fields { node: Some(node), schema: Map::new() })
    }
}

/// Objects that `type` tells apart, each with its name and the function that asks for its other fields.
pub struct Tagged<T: 'static>(pub &'static [Kind<T>]);

/// A value of `type`, and the function that asks for the other fields of such an object.
type Kind<T> = (&'static str, fn(&mut Fields) -> Option<T>);

impl<T: 'static> Decoder for Tagged<T> {
    type Value = T;

    fn schema(&self) -> Json {
        let of_kind = |(name, read): &Kind<T>| {
            let mut schema = build_schema(read);
            schema["properties"]["type"] = json!({"const": name});
            if let Some(required) = schema["required"].as_array_mut() {
                required.insert(0, "type".into());
            }
            schema
        };
        json!({"anyOf": self.0.iter().map(of_kind).collect::<Vec<_>>()})
    }

    fn decode(&self, node: &Node) -> Option<T> {
        let name = node.require_child("type")?.read_text()?;
        let Some((_, read)) = self.0.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
            return node.note("enum", &format!("type should be one of: {}", names.join(", ")));
        };
        read(&mut Fields { node: Some(node), schema: Map::new() })
    }
}

fn build_schema<T>(read: &impl Fn(&mut Fields) -> Option<T>) -> Json {
    let schema = Map::from_iter([("type".to_owned(), "object".into()), ("properties".to_owned(), json!({}))]);
    let mut fields = Fields { node: None, schema };
    read(&mut fields);
    Json::Object(fields.schema)
}

impl Fields<'_> {
    /// A field that must be present.
    pub fn read_required<D: Decoder>(&mut self, name: &str, decoder: D) -> Option<D::Value> {
        if let Some(node) = self.node {
            return decoder.decode(&node.require_child(name)?);
        }
        self.describe(name, decoder.schema());
        if let Some(required) = self.schema.entry("required").or_insert_with(|| json!([])).as_array_mut() {
            required.push(name.into());
        }
        None
    }

    /// A field that may be absent or null.
    pub fn read_optional<D: Decoder>(&mut self, name: &str, decoder: D) -> Option<D::Value> {
        if let Some(node) = self.node {
            return decoder.decode(&node.find_child(name)?);
        }
        self.describe(name, admit_null(decoder.schema()));
        None
    }

    /// Requires that at most one of two optional fields is present.
    pub fn require_at_most_one(&mut self, first: &str, second: &str) {
        if let Some(node) = self.node {
            if let (Some(_), Some(other)) = (node.find_child(first), node.find_child(second)) {
                other.note::<()>("value_error", &format!("cannot be combined with {first}"));
            }
            return;
        }
        let given = json!({"not": {"type": "null"}});
        let both = json!({"required": [first, second], "properties": {first: given, second: given}});
        self.schema.insert("not".to_owned(), both);
    }

    /// Requires that at least one of these optional fields is present.
    pub fn require_at_least_one<const N: usize>(&mut self, names: [&str; N]) {
        if let Some(node) = self.node {
            if names.iter().all(|name| node.find_child(name).is_none()) {
                node.note::<()>("missing", &format!("{} is required", names.join(" or ")));
            }
            return;
        }
        let absent: Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!({"type": "null"}))).collect();
        self.schema.insert("not".to_owned(), json!({"properties": absent}));
    }

    /// Requires that exactly one of two optional fields is present.
    pub fn require_exactly_one(&mut self, first: &str, second: &str) {
        let Some(node) = self.node else {
            let given = |name: &str| json!({"required": [name], "properties": {name: {"not": {"type": "null"}}}});
            self.schema.insert("oneOf".to_owned(), json!([given(first), given(second)]));
            return;
        };
        match (node.find_child(first), node.find_child(second)) {
            (Some(_), Some(other)) => other.note::<()>("value_error", &format!("cannot be combined with {first}")),
            (None, None) => node.note("missing", &format!("{first} or {second} is required")),
            _ => None,
        };
    }

    /// Marks the schema as necessary but not sufficient; the mark names the parser that decides.
    pub fn mark_parsed_as(&mut self, mark: &str) {
        if self.node.is_none() {
            self.schema.insert("x-parsed".to_owned(), mark.into());
        }
    }

    /// The value, or a problem of the whole object.
    pub fn check<T>(&self, result: Result<T, registry::InvalidValue>) -> Option<T> {
        result.map_or_else(|error| self.node?.note("value_error", &error.to_string()), Some)
    }

    /// The value, or a problem of the field `name`; of the whole object when the field is absent.
    pub fn check_field<T>(&self, name: &str, result: Result<T, registry::InvalidValue>) -> Option<T> {
        let note = |error: registry::InvalidValue| {
            let node = self.node?;
            node.find_child(name).as_ref().unwrap_or(node).note("value_error", &error.to_string())
        };
        result.map_or_else(note, Some)
    }

    /// Rejects a well-formed object that breaks a rule, with status 400.
    pub fn refuse<T>(&self, code: &'static str, detail: &str) -> Option<T> {
        self.node?.refuse(code, detail.to_owned())
    }

    fn describe(&mut self, name: &str, schema: Json) {
        if let Some(properties) = self.schema.get_mut("properties") {
            properties[name] = schema;
        }
    }
}

/// Makes a schema admit null.
pub fn admit_null(mut schema: Json) -> Json {
    if let Some(alternatives) = schema.get_mut("anyOf").and_then(Json::as_array_mut) {
        alternatives.push(json!({"type": "null"}));
        return schema;
    }
    schema["type"] = json!([schema["type"], "null"]);
    if let Some(words) = schema.get_mut("enum").and_then(Json::as_array_mut) {
        words.push(Json::Null);
    }
    schema
}
