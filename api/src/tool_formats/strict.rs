//! Whether a schema can be enforced by a model API while the model writes.

use serde_json::{Map, Value};

/// Keywords that strict schemas may have.
const KEYWORDS: [&str; 28] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "definitions",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
    "$schema",
    "$id",
    "$comment",
    "deprecated",
];
/// Nested schemas that are looked at. Model APIs accept fewer.
const DEPTH_MAX: usize = 10;

/// Whether each object of the schema names all of its properties as required and admits no others, and whether all keywords are
/// among those that strict schemas may have.
pub(super) fn is_strict(schema: &Value) -> bool {
    schema["type"] == "object" && schema.get("anyOf").is_none() && is_strict_part(schema, DEPTH_MAX)
}

fn is_strict_part(schema: &Value, depth: usize) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let Some(depth) = depth.checked_sub(1) else { return false };
    let has_known_keywords = schema.keys().all(|key| KEYWORDS.contains(&key.as_str()));
    has_known_keywords && is_closed(schema) && parts(schema).all(|part| is_strict_part(part, depth))
}

/// Whether an object admits its properties only, all of them required. Other types have no properties.
fn is_closed(schema: &Map<String, Value>) -> bool {
    let is_object = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => schema.contains_key("properties"),
    };
    if !is_object {
        return true;
    }
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|required| required.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let all_required = properties.is_none_or(|properties| properties.keys().all(is_required));
    schema.get("additionalProperties") == Some(&Value::Bool(false)) && all_required
}

/// The schemas within a schema.
fn parts(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let maps = ["properties", "$defs", "definitions"].into_iter().filter_map(|key| schema.get(key)?.as_object());
    let lists = schema.get("anyOf").and_then(Value::as_array);
    maps.flat_map(Map::values).chain(lists.into_iter().flatten()).chain(schema.get("items"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_closed_objects_with_required_properties_are_strict() {
        let text = json!({"type": "string"});
        let strict = json!({
            "type": "object", "properties": {"a": text, "b": {"anyOf": [text, {"type": "null"}]}},
            "required": ["a", "b"], "additionalProperties": false,
        });
        assert!(is_strict(&strict));
        assert!(is_strict(&json!({"type": "object", "additionalProperties": false})));
        let changed = |key: &str, value: Value| {
            let mut changed = strict.clone();
            changed[key] = value;
            is_strict(&changed)
        };
        assert!(!changed("additionalProperties", json!(true)), "open");
        assert!(!changed("required", json!(["a"])), "an optional property");
        assert!(!changed("type", json!("string")), "no object");
        assert!(!changed("patternProperties", json!({})), "an unknown keyword");
        assert!(!changed("properties", json!({"a": {"type": "object"}, "b": text})), "an open object within");
    }

    #[test]
    fn deep_schemas_are_not_strict() {
        let mut schema = json!({"type": "string"});
        for _ in 0..20 {
            schema = json!({
                "type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": false,
            });
        }
        assert!(!is_strict(&schema));
    }
}
