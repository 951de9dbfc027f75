//! Schemas that accept nothing, or less than they seem to.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::text::{quote, show};

/// Names of a list in a warning.
const NAMED_MAX: usize = 10;
/// Warnings of one schema.
const FOUND_MAX: usize = 20;

/// The keywords whose schemas are about the same value as the schema that has them.
const SAME_VALUE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SAME_VALUE: [&str; 3] = ["if", "then", "else"];

/// The keywords whose schemas are about parts of the value. What `not` requires is not required of the value.
const PARTS: [&str; 8] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "contains",
    "propertyNames",
    "not",
];
const NAMED_PARTS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// Bounds of which the first must not be above the second.
const BOUNDS: [[&str; 2]; 5] = [
    ["minimum", "maximum"],
    ["minLength", "maxLength"],
    ["minItems", "maxItems"],
    ["minProperties", "maxProperties"],
    ["minContains", "maxContains"],
];

/// Finds what most likely is a mistake. A schema is visited once, so that the cost is linear.
pub fn find(name: &str, schema: &Value) -> Vec<String> {
    let mut search = Search { name, found: Vec::new() };
    search.visit(schema, "");
    search.found
}

struct Search<'n> {
    name: &'n str,
    found: Vec<String>,
}

/// The properties that schemas list for one value.
#[derive(Default)]
struct Listed<'s> {
    names: BTreeSet<&'s str>,
    has_properties: bool,
    /// Whether others can exist that were not read.
    is_open: bool,
}

impl Search<'_> {
    /// Visits the schema of a value, with all schemas about the same value.
    fn visit(&mut self, schema: &Value, place: &str) {
        let mut listed = Listed::default();
        listed.read(schema);
        self.visit_same(schema, place, &listed);
    }

    fn visit_same(&mut self, schema: &Value, place: &str, listed: &Listed<'_>) {
        let Some(fields) = schema.as_object() else { return };
        self.check_required(fields, place, listed);
        self.check_values(fields, place);
        self.check_bounds(fields, place);
        for keyword in SAME_VALUE_LISTS {
            for (index, inner) in fields.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
                self.visit_same(inner, &format!("{place}/{keyword}/{index}"), listed);
            }
        }
        for keyword in SAME_VALUE {
            if let Some(inner) = fields.get(keyword) {
                self.visit_same(inner, &format!("{place}/{keyword}"), listed);
            }
        }
        for (name, inner) in fields.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten() {
            self.visit_same(inner, &format!("{place}/dependentSchemas/{}", show(name)), listed);
        }
        for keyword in PARTS {
            match fields.get(keyword) {
                Some(Value::Array(items)) => self.visit_all(items, &format!("{place}/{keyword}")),
                Some(inner) => self.visit(inner, &format!("{place}/{keyword}")),
                None => {}
            }
        }
        if let Some(items) = fields.get("prefixItems").and_then(Value::as_array) {
            self.visit_all(items, &format!("{place}/prefixItems"));
        }
        for keyword in NAMED_PARTS {
            for (name, inner) in fields.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                self.visit(inner, &format!("{place}/{keyword}/{}", show(name)));
            }
        }
    }

    fn visit_all(&mut self, schemas: &[Value], place: &str) {
        schemas.iter().enumerate().for_each(|(index, inner)| self.visit(inner, &format!("{place}/{index}")));
    }

    /// A required property that no schema of the value lists.
    fn check_required(&mut self, fields: &Map<String, Value>, place: &str, listed: &Listed<'_>) {
        if listed.is_open || !listed.has_properties {
            return;
        }
        let required = fields.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in required.filter(|name| !listed.names.contains(name)) {
            let known: Vec<_> = listed.names.iter().take(NAMED_MAX).copied().map(quote).collect();
            self.note(
                place,
                &format!("requires {}, which `properties` does not list: {}", quote(name), known.join(", ")),
            );
        }
    }

    /// Listed values that the schema's own type refuses, so that no value can be one of them.
    fn check_values(&mut self, fields: &Map<String, Value>, place: &str) {
        let listed = fields.get("enum").and_then(Value::as_array);
        if listed.is_some_and(Vec::is_empty) {
            self.note(place, "accepts nothing: its `enum` is empty");
        }
        for value in listed.into_iter().flatten().filter(|value| !has_type(value, fields.get("type"))) {
            self.note(
                place,
                &format!("never accepts {} of its `enum`, whose type is not its `type`", quote(&value.to_string())),
            );
        }
        if let Some(value) = fields.get("const") {
            if !has_type(value, fields.get("type")) {
                self.note(
                    place,
                    &format!("accepts nothing: its `const` {} is not of its `type`", quote(&value.to_string())),
                );
            }
            if listed.is_some_and(|listed| !listed.contains(value)) {
                self.note(
                    place,
                    &format!("accepts nothing: its `const` {} is not in its `enum`", quote(&value.to_string())),
                );
            }
        }
        if let Some(value) = fields.get("default")
            && (!has_type(value, fields.get("type")) || listed.is_some_and(|listed| !listed.contains(value)))
        {
            self.note(place, &format!("refuses its own `default` {}", quote(&value.to_string())));
        }
    }

    fn check_bounds(&mut self, fields: &Map<String, Value>, place: &str) {
        for [least, most] in BOUNDS {
            let number = |keyword: &str| fields.get(keyword).and_then(Value::as_f64);
            if let (Some(low), Some(high)) = (number(least), number(most))
                && low > high
            {
                self.note(place, &format!("accepts nothing: its `{least}` {low} is above its `{most}` {high}"));
            }
        }
    }

    fn note(&mut self, place: &str, problem: &str) {
        if self.found.len() < FOUND_MAX {
            let place = if place.is_empty() { String::new() } else { format!(" at {place}") };
            self.found.push(format!("{}{place} {problem}", self.name));
        }
    }
}

impl<'s> Listed<'s> {
    fn read(&mut self, schema: &'s Value) {
        let Some(fields) = schema.as_object() else { return };
        self.is_open |= ["$ref", "$dynamicRef", "$recursiveRef", "patternProperties"]
            .into_iter()
            .any(|keyword| fields.contains_key(keyword));
        // A schema for further properties says that there are some.
        self.is_open |=
            fields.get("additionalProperties").is_some_and(|further| further.is_object() || *further == true);
        if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
            self.has_properties = true;
            self.names.extend(properties.keys().map(String::as_str));
        }
        let of_lists = SAME_VALUE_LISTS.into_iter().filter_map(|keyword| fields.get(keyword)?.as_array()).flatten();
        let of_one = SAME_VALUE.into_iter().filter_map(|keyword| fields.get(keyword));
        let dependent = fields.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
        of_lists.chain(of_one).chain(dependent).for_each(|inner| self.read(inner));
    }
}

/// Whether a value has the type that a schema names, or one of them.
fn has_type(value: &Value, named: Option<&Value>) -> bool {
    let is = |name: &str| match name {
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    match named {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn find_text(schema: &Value) -> String {
        find("the schema", schema).join("\n")
    }

    #[test]
    fn a_schema_without_a_mistake_has_no_warning() {
        for schema in [
            json!({}),
            json!(true),
            json!({"type": "object", "properties": {"a": {"type": ["integer", "null"], "default": null}}, "required": ["a"]}),
            json!({"required": ["a"]}),
            json!({"properties": {"a": {}}, "not": {"required": ["old"]}}),
            json!({"properties": {"a": {}}, "required": ["b"], "additionalProperties": {"type": "string"}}),
            json!({"properties": {"a": {}}, "required": ["b"], "patternProperties": {"^b$": {}}}),
            json!({"properties": {"a": {}}, "required": ["b"], "$ref": "#/$defs/x"}),
            json!({"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}, "required": ["a", "b"]}, {"required": ["a"]}]}),
            json!({"properties": {"n": {"type": "integer", "enum": [1, 2.0], "minimum": 1, "maximum": 1}}}),
        ] {
            assert_eq!(find_text(&schema), "", "{schema}");
        }
    }

    #[test]
    fn each_mistake_names_its_place() {
        for (schema, words) in [
            (
                json!({"properties": {"name": {}}, "required": ["nmae"]}),
                "the schema requires \"nmae\", which `properties` does not list: \"name\"",
            ),
            (
                json!({"properties": {"list": {"items": {"properties": {"id": {}}, "required": ["di"]}}}}),
                "the schema at /properties/list/items requires \"di\"",
            ),
            (
                json!({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                "at /anyOf/1 requires \"b\"",
            ),
            (json!({"properties": {"a": {"enum": ["x", 1], "type": "string"}}}), "never accepts \"1\" of its `enum`"),
            (json!({"const": 1, "type": "string"}), "its `const` \"1\" is not of its `type`"),
            (json!({"const": 1, "enum": [2]}), "is not in its `enum`"),
            (json!({"type": "string", "default": 1}), "refuses its own `default`"),
            (json!({"minLength": 3, "maxLength": 2}), "its `minLength` 3 is above its `maxLength` 2"),
        ] {
            assert!(find_text(&schema).contains(words), "{schema}: {}", find_text(&schema));
        }
    }
}
