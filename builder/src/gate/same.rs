//! Equivalence of schemas, and resolution of their references.

use serde_json::{Map, Value};

use super::budget::Budget;

/// Keywords that describe values and refuse none. `format` is not among them, since some validators enforce it.
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
/// Keywords whose value is a map of schemas, a list of schemas, or a single schema.
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

/// Whether a document uses the supported draft, and no part of it has an identifier of its own.
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

/// The target of a reference within a document.
pub(super) fn resolve<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    let pointer = reference.as_str()?.strip_prefix('#')?;
    // Percent-encoded references and anchors are rare and not resolved.
    if pointer.contains('%') { None } else { root.pointer(pointer) }
}

/// Whether two schemas are equal, apart from annotations.
pub(super) fn is_same(one: &Value, other: &Value, budget: &Budget) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => is_same_map(one, other, budget),
        _ => are_equal(one, other, budget),
    }
}

pub(super) fn is_same_map(one: &Map<String, Value>, other: &Map<String, Value>, budget: &Budget) -> bool {
    let counts = |keyword: &&String| !ANNOTATIONS.contains(&keyword.as_str());
    let count = |map: &Map<String, Value>| map.keys().filter(counts).count();
    let alike = |keyword: &String| {
        other.get(keyword).is_some_and(|value| has_same_value(keyword, &one[keyword], value, budget))
    };
    budget.spend(one.len() + other.len()) && count(one) == count(other) && one.keys().filter(counts).all(alike)
}

pub(super) fn is_same_by_name(one: &Map<String, Value>, other: &Map<String, Value>, budget: &Budget) -> bool {
    let alike = |(name, schema): (&String, &Value)| other.get(name).is_some_and(|other| is_same(schema, other, budget));
    one.len() == other.len() && one.iter().all(alike)
}

pub(super) fn has_same_value(keyword: &str, one: &Value, other: &Value, budget: &Budget) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if BY_NAME.contains(&keyword) => is_same_by_name(one, other, budget),
        (Value::Array(one), Value::Array(other)) if LISTS.contains(&keyword) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other, budget))
        }
        _ if SINGLE.contains(&keyword) => is_same(one, other, budget),
        _ => are_equal(one, other, budget),
    }
}

/// Whether two values are equal as with `==`. `false` when the budget is exceeded.
pub(super) fn are_equal(one: &Value, other: &Value, budget: &Budget) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            budget.spend(1)
                && one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| are_equal(one, other, budget))
        }
        (Value::Object(one), Value::Object(other)) => {
            let alike = |(name, one): (&String, &Value)| {
                budget.spend_text(name) && other.get(name).is_some_and(|other| are_equal(one, other, budget))
            };
            one.len() == other.len() && one.iter().all(alike)
        }
        (Value::String(one), Value::String(other)) => budget.spend_text(one) && one == other,
        _ => budget.spend(1) && one == other,
    }
}

pub(super) fn has_reference(value: &Value, budget: &Budget) -> bool {
    has_reference_where(value, &|_| true, budget)
}

/// Whether all references point to definitions. A property called `$ref` counts as a reference, which can only hide
/// compatibility.
pub(super) fn refers_to_definitions_alone(value: &Value, budget: &Budget) -> bool {
    let to_definitions = |text: &str| text.starts_with("#/$defs/") || text.starts_with("#/definitions/");
    !has_reference_where(value, &|reference| !reference.as_str().is_some_and(to_definitions), budget)
}

/// Whether a reference satisfies a condition. `true` when the budget is exceeded, since one may exist.
fn has_reference_where(value: &Value, found: &dyn Fn(&Value) -> bool, budget: &Budget) -> bool {
    if !budget.spend(1) {
        return true;
    }
    match value {
        Value::Array(values) => values.iter().any(|value| has_reference_where(value, found, budget)),
        Value::Object(map) => map
            .iter()
            .any(|(keyword, value)| (keyword == "$ref" && found(value)) || has_reference_where(value, found, budget)),
        _ => false,
    }
}
