//! The root of a schema: an object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::keywords::{find_part, for_each_part};
use super::patterns::move_foreign_patterns;

/// References from one to the next that are followed.
const REFERENCES_MAX: usize = 8;
/// Keywords that describe the root, and not the values. Those of the root itself count.
const ANNOTATIONS: [&str; 4] = ["$comment", "$schema", "description", "title"];
/// Keywords after which a part cannot be moved to the root.
const OF_PLACE: [&str; 3] = ["$anchor", "$dynamicAnchor", "$id"];

/// Whether the root of a schema says that its values are objects, as MCP clients require it.
#[must_use]
pub fn names_object_type(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// Shapes an input schema: an object with `"type": "object"` and `properties` at its root, without booleans in the place of schemas.
/// Arguments are objects, so that it accepts what the schema accepts.
pub(crate) fn shape_input(schema: Value) -> Value {
    let admits_objects = match &schema {
        Value::Bool(accepts) => *accepts,
        schema => admits_objects(schema),
    };
    let mut root = inline_reference(take_members(schema));
    root.insert("type".to_owned(), json!("object"));
    root.entry("properties").or_insert_with(|| json!({}));
    if !admits_objects {
        root.insert("not".to_owned(), json!({}));
    }
    Value::Object(root)
}

/// Shapes the schema of outputs. `None` for one whose values need not be objects: MCP clients accept no other structured output.
pub(crate) fn shape_output(schema: Value) -> Option<Value> {
    if !describes_objects(&schema) {
        return None;
    }
    let mut root = inline_reference(take_members(schema));
    root.insert("type".to_owned(), json!("object"));
    // Clients keep compiled schemas by this name, which the schemas of two tools may have.
    if !root.values().any(has_named_reference) {
        root.remove("$id");
    }
    let mut shaped = Value::Object(root);
    move_foreign_patterns(&mut shaped);
    Some(shaped)
}

/// Whether the text of an input schema is as [`shape_for_models`](super::shape_for_models) would write it, as most are. Only its first
/// two levels are parsed.
pub(crate) fn is_shaped(text: &str) -> bool {
    let members = |text| serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(text).ok();
    let Some(root) = members(text) else { return false };
    let has_properties = root.get("properties").is_some_and(|properties| members(properties.get()).is_some());
    let is_object = root.get("type").is_some_and(|one| one.get() == r#""object""#);
    let is_plain =
        ["$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"].iter().all(|key| !root.contains_key(*key));
    // A boolean may stand in the place of a schema.
    let has_booleans = [":true", ": true", ":false", ": false"].iter().any(|boolean| text.contains(boolean));
    is_object && has_properties && is_plain && !has_booleans
}

/// Whether a part of a schema refers to another document, or to this one by its name.
fn has_named_reference(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, value)| {
            let is_named = key == "$ref" && value.as_str().is_some_and(|reference| !reference.starts_with('#'));
            is_named || has_named_reference(value)
        }),
        Value::Array(items) => items.iter().any(has_named_reference),
        _ => false,
    }
}

/// Whether all values of a schema are objects.
#[must_use]
pub fn describes_objects(schema: &Value) -> bool {
    schema.as_object().is_some_and(|root| are_objects(schema, root, REFERENCES_MAX))
}

/// Follows at most so many references within `root`.
fn are_objects(schema: &Value, root: &Map<String, Value>, references: usize) -> bool {
    let Some(members) = schema.as_object() else { return false };
    match members.get("type") {
        Some(Value::Array(types)) => return !types.is_empty() && types.iter().all(|one| one == "object"),
        Some(one) => return one == "object",
        None => {}
    }
    if members.get("const").is_some_and(Value::is_object) {
        return true;
    }
    let list = |keyword: &str| members.get(keyword).and_then(Value::as_array).filter(|list| !list.is_empty());
    let Some(left) = references.checked_sub(1) else { return false };
    let is_object = |part: &Value| are_objects(part, root, left);
    let referenced = members.get("$ref").and_then(Value::as_str).and_then(|reference| find_part(root, reference));
    list("enum").is_some_and(|values| values.iter().all(Value::is_object))
        || referenced.is_some_and(is_object)
        || list("allOf").is_some_and(|parts| parts.iter().any(is_object))
        || ["anyOf", "oneOf"].into_iter().filter_map(list).any(|parts| parts.iter().all(is_object))
}

/// Whether the type at the root, if there is one, is an object or one of several types of which an object is one.
fn admits_objects(schema: &Value) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
    }
}

/// The members of the root, without booleans in the place of schemas.
fn take_members(mut schema: Value) -> Map<String, Value> {
    replace_booleans(&mut schema);
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Replaces `true` and `false` by the objects that mean the same.
fn replace_booleans(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = json!({}),
        Value::Bool(false) => *schema = json!({"not": {}}),
        Value::Object(members) => for_each_part(members, |_, part| replace_booleans(part)),
        _ => {}
    }
}

/// Replaces a reference at the root by the part of the schema to which it points, unless the root says something else beside it.
fn inline_reference(mut root: Map<String, Value>) -> Map<String, Value> {
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = root.get("$ref").and_then(Value::as_str) else { break };
        let Some(Value::Object(part)) = find_part(&root, reference) else { break };
        let differs = |(key, value): (&String, &Value)| {
            let is_annotation = ANNOTATIONS.contains(&key.as_str());
            key != "$ref" && !is_annotation && root.get(key).is_some_and(|own| own != value)
        };
        if part.keys().any(|key| OF_PLACE.contains(&key.as_str())) || part.iter().any(differs) {
            break;
        }
        let part = part.clone();
        root.remove("$ref");
        for (key, value) in part {
            root.entry(key).or_insert(value);
        }
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_root_becomes_an_object_and_keeps_what_it_says() {
        let (cat, dog) =
            (json!({"properties": {"kind": {"const": "cat"}}}), json!({"properties": {"kind": {"const": "dog"}}}));
        let shape = |extra: Value| {
            let mut expected = json!({"type": "object", "properties": {}});
            expected.as_object_mut().unwrap().extend(extra.as_object().cloned().unwrap());
            expected
        };
        for (schema, expected) in [
            (json!(true), json!({})),
            (json!({}), json!({})),
            (json!(false), json!({"not": {}})),
            (json!({"type": "string"}), json!({"not": {}})),
            (json!({"type": ["object", "null"], "minProperties": 1}), json!({"minProperties": 1})),
            (json!({"anyOf": [cat, dog]}), json!({"anyOf": [cat, dog]})),
            (json!({"properties": {"a": true, "b": false}}), json!({"properties": {"a": {}, "b": {"not": {}}}})),
            (
                json!({"$ref": "#/$defs/pet", "$defs": {"pet": {"title": "Pet", "required": ["kind"], "oneOf": [cat]}}}),
                json!({"title": "Pet", "required": ["kind"], "oneOf": [cat], "$defs": {"pet": {"title": "Pet", "required": ["kind"], "oneOf": [cat]}}}),
            ),
            (
                json!({"$ref": "#/$defs/a", "required": ["x"], "$defs": {"a": {"required": ["y"]}}}),
                json!({"$ref": "#/$defs/a", "required": ["x"], "$defs": {"a": {"required": ["y"]}}}),
            ),
            (
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
            ),
            (
                json!({"default": true, "enum": [true, {}], "const": false}),
                json!({"default": true, "enum": [true, {}], "const": false}),
            ),
        ] {
            assert_eq!(shape_input(schema.clone()), shape(expected), "{schema}");
        }
        let whole = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false});
        assert_eq!(shape_input(whole.clone()), whole);
    }

    #[test]
    fn only_a_shaped_text_is_left_as_it_is() {
        let shaped = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}});
        assert!(is_shaped(&shaped.to_string()));
        for (key, value) in [
            ("type", json!(["object"])),
            ("properties", json!({"a": true})),
            ("properties", json!({"a": {"items": false}})),
            ("anyOf", json!([{}])),
            ("$ref", json!("#/$defs/a")),
        ] {
            let mut other = shaped.clone();
            other[key] = value;
            assert!(!is_shaped(&other.to_string()), "{other}");
        }
        assert!(!is_shaped("true") && !is_shaped(r#"{"type":"object"}"#));
    }

    #[test]
    fn outputs_are_shown_when_all_of_them_are_objects() {
        let object = json!({"type": "object"});
        for schema in [
            object.clone(),
            json!({"oneOf": [object, {"$ref": "#/$defs/a"}], "$defs": {"a": object}}),
            json!({"allOf": [{"required": ["a"]}, object]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [object]}}}),
            json!({"enum": [{"a": 1}]}),
        ] {
            let shown = shape_output(schema.clone()).unwrap_or_else(|| panic!("{schema}"));
            assert!(names_object_type(&shown), "{shown}");
        }
        let named =
            json!({"$id": "https://example.com/a", "type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}});
        assert!(shape_output(named.clone()).unwrap().get("$id").is_none());
        let by_name = json!({"$id": "https://example.com/a", "type": "object", "items": [{"$ref": "/b"}]});
        assert_eq!(shape_output(by_name.clone()), Some(by_name));
        for schema in [
            json!({}),
            json!(true),
            json!({"type": "string"}),
            json!({"type": ["object", "null"]}),
            json!({"anyOf": [object, {"type": "null"}]}),
            json!({"properties": {"a": object}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        ] {
            assert_eq!(shape_output(schema.clone()), None, "{schema}");
        }
    }
}
