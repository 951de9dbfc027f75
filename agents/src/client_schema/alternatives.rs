//! Alternatives at the root of a schema, for model APIs, which accept properties there only.
//!
//! The properties of all alternatives become properties of the root, those that each alternative requires stay required, and the
//! description of the root repeats the alternatives. So the schema never refuses what the author's schema accepts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::keywords::find_part;
use super::root::shape_input;

/// Keywords that model APIs refuse at the root.
const REFUSED: [&str; 6] = ["allOf", "anyOf", "const", "enum", "not", "oneOf"];
/// Schemas that are read for one root. References may lead to one schema on many ways.
const PARTS_MAX: usize = 2_000;
/// Schemas within schemas that are read.
const DEPTH_MAX: usize = 16;
/// Descriptions of one property that are compared with each other. Beyond, equal ones are repeated.
const COMPARED_MAX: usize = 64;
/// Bytes of alternatives that a description repeats. A model reads them before each request.
const REPEATED_BYTES_MAX: usize = 4 << 10;

/// Shapes an input schema for model APIs: as [`shape_input`] does, and without alternatives at its root.
pub(crate) fn shape_for_models(schema: Value) -> Value {
    let mut root = match shape_input(schema) {
        Value::Object(root) => root,
        other => return other,
    };
    if !REFUSED.iter().any(|keyword| root.contains_key(*keyword)) {
        return Value::Object(root);
    }
    let merged = Reader { document: &root, left: PARTS_MAX }.read_members(&root, DEPTH_MAX).unwrap_or_default();
    let properties: Map<_, _> =
        merged.properties.iter().map(|(name, parts)| ((*name).to_owned(), build_union(parts))).collect();
    let required: Vec<_> = merged.required.iter().map(ToString::to_string).collect();
    let is_closed = merged.is_closed;
    let mut alternatives = Map::new();
    for keyword in REFUSED {
        alternatives.extend(root.remove_entry(keyword));
    }
    root.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        root.insert("required".to_owned(), json!(required));
    }
    if is_closed {
        root.insert("additionalProperties".to_owned(), json!(false));
    }
    let description = root.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{description}\n\n{}", describe(&Value::Object(alternatives)));
    root.insert("description".to_owned(), json!(description.trim_start()));
    Value::Object(root)
}

fn describe(alternatives: &Value) -> String {
    let text = alternatives.to_string();
    if text.len() > REPEATED_BYTES_MAX {
        return "Not every combination of these properties is accepted. A call that is refused says why.".to_owned();
    }
    format!("The arguments also match this JSON Schema: {text}")
}

/// The objects that a schema accepts.
#[derive(Clone, Default)]
struct Objects<'s> {
    /// The schemas of each property, of which a value matches one.
    properties: BTreeMap<&'s str, Vec<&'s Value>>,
    required: BTreeSet<&'s str>,
    /// Whether there are no other properties.
    is_closed: bool,
}

struct Reader<'s> {
    /// The schema to whose parts references point.
    document: &'s Map<String, Value>,
    /// Schemas that may still be read.
    left: usize,
}

impl<'s> Reader<'s> {
    /// Reads a schema; `None` for one that accepts no object. What is beyond the bounds may be any object.
    fn read(&mut self, schema: &'s Value, depth: usize) -> Option<Objects<'s>> {
        match schema {
            Value::Bool(false) => None,
            Value::Object(members) => self.read_members(members, depth),
            _ => Some(Objects::default()),
        }
    }

    fn read_members(&mut self, members: &'s Map<String, Value>, depth: usize) -> Option<Objects<'s>> {
        let (Some(left), Some(depth)) = (self.left.checked_sub(1), depth.checked_sub(1)) else {
            return Some(Objects::default());
        };
        self.left = left;
        let is_of_objects = match members.get("type") {
            None => true,
            Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
            Some(one) => one == "object",
        };
        if !is_of_objects {
            return None;
        }
        let mut objects = read_own_objects(members);
        if let Some(part) = members.get("$ref").and_then(Value::as_str).and_then(|to| find_part(self.document, to)) {
            objects = objects.and(self.read(part, depth)?);
        }
        let list = |keyword: &str| members.get(keyword).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            objects = objects.and(self.read(part, depth)?);
        }
        for parts in ["anyOf", "oneOf"].into_iter().filter_map(list) {
            let alternatives: Vec<_> = parts.iter().filter_map(|part| self.read(part, depth)).collect();
            objects = objects.and(Objects::any_of(alternatives)?);
        }
        if let Some(values) = list("enum") {
            objects = objects.and(Objects::any_of(values.iter().filter_map(read_object).collect())?);
        }
        if let Some(value) = members.get("const") {
            objects = objects.and(read_object(value)?);
        }
        Some(objects)
    }
}

/// What a schema says by its own keywords.
fn read_own_objects(members: &Map<String, Value>) -> Objects<'_> {
    let properties = members.get("properties").and_then(Value::as_object);
    let required = members.get("required").and_then(Value::as_array);
    Objects {
        properties: properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), vec![schema])).collect(),
        required: required.into_iter().flatten().filter_map(Value::as_str).collect(),
        is_closed: members.get("additionalProperties") == Some(&Value::Bool(false))
            && !members.contains_key("patternProperties"),
    }
}

/// One value, of which only the names of its members are told.
fn read_object(value: &Value) -> Option<Objects<'_>> {
    let names = || value.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    value.is_object().then(|| Objects {
        properties: names().map(|name| (name, Vec::new())).collect(),
        required: names().collect(),
        is_closed: true,
    })
}

impl<'s> Objects<'s> {
    /// The objects of both. Of two schemas of a property, the first one is told.
    fn and(mut self, other: Self) -> Self {
        for (name, schemas) in other.properties {
            self.properties.entry(name).or_insert(schemas);
        }
        self.required.extend(other.required);
        Self { is_closed: self.is_closed || other.is_closed, ..self }
    }

    /// The objects of one of several schemas; `None` without a schema.
    fn any_of(alternatives: Vec<Self>) -> Option<Self> {
        let mut rest = alternatives.into_iter();
        let mut all = rest.next()?;
        for other in rest {
            for (name, schemas) in other.properties {
                let known = all.properties.entry(name).or_default();
                for schema in schemas {
                    let is_known = known.len() < COMPARED_MAX && known.contains(&schema);
                    if !is_known && !known.iter().any(|one| std::ptr::eq(*one, schema)) {
                        known.push(schema);
                    }
                }
            }
            all.required.retain(|name| other.required.contains(name));
            all.is_closed &= other.is_closed;
        }
        Some(all)
    }
}

/// A schema of the values that one of several schemas accepts.
fn build_union(schemas: &[&Value]) -> Value {
    match schemas {
        [] => json!({}),
        [one] => (*one).clone(),
        several => list_values(several).unwrap_or_else(|| json!({"anyOf": several})),
    }
}

/// The values of several schemas that only list values, as the tags of variants are.
fn list_values(schemas: &[&Value]) -> Option<Value> {
    let mut values: Vec<&Value> = Vec::new();
    for schema in schemas {
        let members = schema.as_object()?;
        if !members.keys().all(|key| matches!(key.as_str(), "const" | "enum" | "type")) {
            return None;
        }
        let one = members.get("const").map(std::slice::from_ref);
        let listed = members.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        for value in one.or(listed)? {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    let are_texts = values.iter().all(|value| value.is_string());
    Some(if are_texts { json!({"type": "string", "enum": values}) } else { json!({"enum": values}) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(tag: &str, more: Value) -> Value {
        let mut properties = json!({"kind": {"type": "string", "const": tag}});
        properties.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let required: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
        json!({"type": "object", "properties": properties, "required": required})
    }

    #[test]
    fn the_variants_of_an_enum_become_properties() {
        let (circle, square) = (
            variant("circle", json!({"radius": {"type": "number"}})),
            variant("square", json!({"side": {"type": "number"}})),
        );
        let shaped = shape_for_models(json!({"title": "Shape", "oneOf": [circle, square]}));
        assert_eq!(shaped["type"], "object");
        assert_eq!(shaped["required"], json!(["kind"]));
        let expected = json!({
            "kind": {"type": "string", "enum": ["circle", "square"]}, "radius": {"type": "number"}, "side": {"type": "number"},
        });
        assert_eq!(shaped["properties"], expected);
        assert!(shaped["description"].as_str().unwrap().contains(r#""const":"circle""#), "{shaped}");
        assert!(REFUSED.iter().all(|keyword| shaped.get(keyword).is_none()), "{shaped}");
    }

    #[test]
    fn a_root_is_closed_when_no_alternative_admits_other_properties() {
        let closed = |name: &str| json!({"type": "object", "properties": {name: {}}, "required": [name], "additionalProperties": false});
        let shaped = shape_for_models(json!({"anyOf": [closed("a"), closed("b"), {"type": "null"}]}));
        assert_eq!(shaped["additionalProperties"], false, "{shaped}");
        assert_eq!(shaped["properties"], json!({"a": {}, "b": {}}));
        assert!(shaped.get("required").is_none(), "{shaped}");
        let shaped = shape_for_models(json!({"anyOf": [closed("a"), {"required": ["b"]}]}));
        assert!(shaped.get("additionalProperties").is_none(), "{shaped}");
    }

    #[test]
    fn references_and_conjunctions_are_read() {
        let shaped = shape_for_models(json!({
            "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
            "$defs": {"base": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
        }));
        assert_eq!(shaped["properties"], json!({"a": {"type": "string"}, "b": {"type": "integer"}}));
        assert_eq!(shaped["required"], json!(["a", "b"]));
        assert!(shaped["$defs"].is_object());
    }

    #[test]
    fn schemas_of_which_references_lead_to_each_other_have_a_bound() {
        let mut parts = Map::new();
        for level in 0..15 {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            parts.insert(format!("l{level}"), json!({"anyOf": vec![next; 20]}));
        }
        parts.insert("l15".to_owned(), json!({"properties": {"a": {}}}));
        let shaped = shape_for_models(json!({"anyOf": [{"$ref": "#/$defs/l0"}], "$defs": parts}));
        assert_eq!(shaped["type"], "object");
        let long = "x".repeat(REPEATED_BYTES_MAX);
        let shaped = shape_for_models(json!({"anyOf": [{"description": long}]}));
        assert!(shaped["description"].as_str().unwrap().len() < 200, "{shaped}");
    }

    #[test]
    fn other_roots_stay_as_they_are() {
        let schema = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["a"]});
        assert_eq!(shape_for_models(schema.clone()), schema);
    }
}
