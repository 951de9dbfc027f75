//! Whether a schema can be enforced by a model API while the model writes.

use serde_json::{Map, Value};

/// Keywords that strict schemas may have in every model API. A model API refuses the request for another one.
const KEYWORDS: [&str; 13] = [
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "anyOf",
    "const",
    "definitions",
    "description",
    "enum",
    "items",
    "properties",
    "required",
    "title",
];
/// Keywords of OpenAI.
const OF_OPENAI: [&str; 8] =
    ["exclusiveMaximum", "exclusiveMinimum", "maxItems", "maximum", "minItems", "minimum", "multipleOf", "pattern"];
/// Keywords of Anthropic.
const OF_ANTHROPIC: [&str; 1] = ["default"];
/// Formats of both.
const FORMATS: [&str; 8] = ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
/// Nested schemas that are looked at. Model APIs accept fewer.
const DEPTH_MAX: usize = 10;

/// The model API that enforces a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrictDialect {
    OpenAi,
    Anthropic,
}

impl StrictDialect {
    fn has_keyword(self, keyword: &str, value: &Value) -> bool {
        let of_dialect: &[&str] = match self {
            Self::OpenAi => &OF_OPENAI,
            Self::Anthropic => &OF_ANTHROPIC,
        };
        match keyword {
            "type" => true,
            "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
            keyword => KEYWORDS.contains(&keyword) || of_dialect.contains(&keyword),
        }
    }
}

/// Whether each object of the schema names all of its properties as required and admits no others, and whether all keywords are
/// among those that strict schemas may have.
pub(super) fn is_strict(schema: &Value, dialect: StrictDialect) -> bool {
    schema["type"] == "object" && schema.get("anyOf").is_none() && is_strict_part(schema, dialect, DEPTH_MAX)
}

fn is_strict_part(schema: &Value, dialect: StrictDialect, depth: usize) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    let Some(depth) = depth.checked_sub(1) else { return false };
    let has_known_keywords = schema.iter().all(|(key, value)| dialect.has_keyword(key, value));
    has_known_keywords && is_closed(schema) && list_parts(schema).all(|part| is_strict_part(part, dialect, depth))
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
fn list_parts(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let maps = ["properties", "$defs", "definitions"].into_iter().filter_map(|key| schema.get(key)?.as_object());
    let lists = schema.get("anyOf").and_then(Value::as_array);
    maps.flat_map(Map::values).chain(lists.into_iter().flatten()).chain(schema.get("items"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_strict_for_both(schema: &Value) -> bool {
        [StrictDialect::OpenAi, StrictDialect::Anthropic].iter().all(|dialect| is_strict(schema, *dialect))
    }

    #[test]
    fn only_closed_objects_with_required_properties_are_strict() {
        let text = json!({"type": "string"});
        let strict = json!({
            "type": "object", "properties": {"a": text, "b": {"anyOf": [text, {"type": "null"}]}},
            "required": ["a", "b"], "additionalProperties": false,
        });
        assert!(is_strict_for_both(&strict));
        assert!(is_strict_for_both(&json!({"type": "object", "additionalProperties": false})));
        let changed = |key: &str, value: Value| {
            let mut changed = strict.clone();
            changed[key] = value;
            is_strict_for_both(&changed)
        };
        assert!(!changed("additionalProperties", json!(true)), "open");
        assert!(!changed("required", json!(["a"])), "an optional property");
        assert!(!changed("type", json!("string")), "no object");
        assert!(!changed("patternProperties", json!({})), "an unknown keyword");
        assert!(!changed("properties", json!({"a": {"type": "object"}, "b": text})), "an open object within");
    }

    #[test]
    fn each_model_api_has_keywords_of_its_own() {
        let of = |property: Value| {
            let schema = json!({
                "type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false,
            });
            [is_strict(&schema, StrictDialect::OpenAi), is_strict(&schema, StrictDialect::Anthropic)]
        };
        for (property, expected) in [
            (json!({"type": "string", "format": "date"}), [true, true]),
            (json!({"type": "string", "format": "color"}), [false, false]),
            (json!({"type": "integer", "minimum": 1}), [true, false]),
            (json!({"type": "string", "default": "x"}), [false, true]),
            (json!({"type": "string", "maxLength": 5}), [false, false]),
            (json!({"type": "string", "examples": ["x"]}), [false, false]),
        ] {
            assert_eq!(of(property.clone()), expected, "{property}");
        }
    }

    #[test]
    fn deep_schemas_are_not_strict() {
        let mut schema = json!({"type": "string"});
        for _ in 0..20 {
            schema = json!({
                "type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": false,
            });
        }
        assert!(!is_strict_for_both(&schema));
    }
}
