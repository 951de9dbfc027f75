//! Whether schemas say the same, and what their references lead to.

use serde_json::{Map, Value};

/// Keywords that say something about values and refuse none. `format` is not among them: some readers do refuse.
const ANNOTATIONS: [&str; 17] = [
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$defs",
    "definitions",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];
/// Keywords with a schema by name, with a list of schemas, and with one.
const BY_NAME: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SINGLE: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Whether a document is of the draft that is compared, and no part of it has an address of its own.
pub(super) fn is_plain(document: &Value) -> bool {
    let draft = document.get("$schema").and_then(Value::as_str);
    draft.is_none_or(|draft| draft.contains("draft/2020-12/")) && !has_address(document)
}

fn has_address(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(has_address),
        Value::Object(map) => {
            ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"]
                .iter()
                .any(|keyword| map.contains_key(*keyword))
                || map.values().any(has_address)
        }
        _ => false,
    }
}

/// What a reference within a document leads to.
pub(super) fn resolve<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    let pointer = reference.as_str()?.strip_prefix('#')?;
    // Percent signs and anchors are rare enough not to be followed.
    if pointer.contains('%') { None } else { root.pointer(pointer) }
}

/// Whether two schemas say the same, beside annotations.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => same_maps(one, other),
        _ => one == other,
    }
}

pub(super) fn same_maps(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let counts = |keyword: &&String| !ANNOTATIONS.contains(&keyword.as_str());
    let count = |map: &Map<String, Value>| map.keys().filter(counts).count();
    let alike = |keyword: &String| other.get(keyword).is_some_and(|value| same_values(keyword, &one[keyword], value));
    count(one) == count(other) && one.keys().filter(counts).all(alike)
}

pub(super) fn same_by_name(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let alike = |(name, schema): (&String, &Value)| other.get(name).is_some_and(|other| same(schema, other));
    one.len() == other.len() && one.iter().all(alike)
}

pub(super) fn same_values(keyword: &str, one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if BY_NAME.contains(&keyword) => same_by_name(one, other),
        (Value::Array(one), Value::Array(other)) if LISTS.contains(&keyword) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ if SINGLE.contains(&keyword) => same(one, other),
        _ => one == other,
    }
}

pub(super) fn has_reference(value: &Value) -> bool {
    any_reference(value, &|_| true)
}

/// A property may be called `$ref`, too; then it is taken for a reference, which shows less and nothing wrong.
pub(super) fn refers_to_definitions_alone(value: &Value) -> bool {
    let to_definitions = |text: &str| text.starts_with("#/$defs/") || text.starts_with("#/definitions/");
    !any_reference(value, &|reference| !reference.as_str().is_some_and(to_definitions))
}

fn any_reference(value: &Value, found: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(values) => values.iter().any(|value| any_reference(value, found)),
        Value::Object(map) => {
            map.iter().any(|(keyword, value)| (keyword == "$ref" && found(value)) || any_reference(value, found))
        }
        _ => false,
    }
}
