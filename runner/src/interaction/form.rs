//! The content of a form that a person filled in. Forms of the protocol are flat: each field is a text, a number, a yes or no, or a choice.
//!
//! The check looks at each value once. Patterns and formats are left to the tool.

use serde_json::{Map, Value};

/// Whether the result of a form has what its question asks for. Fields that it does not ask for are ignored.
pub(super) fn fits(question: &Value, result: &Value) -> bool {
    if result["action"] != "accept" {
        return true;
    }
    let schema = &question["params"]["requestedSchema"];
    let Some(content) = result["content"].as_object() else { return false };
    has_required(schema, content)
        && content.iter().all(|(name, value)| schema["properties"].get(name).is_none_or(|field| is_of(field, value)))
}

fn has_required(schema: &Value, content: &Map<String, Value>) -> bool {
    let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required.all(|name| content.contains_key(name))
}

/// Whether a value is one that a field takes. A field of another type takes every value.
fn is_of(field: &Value, value: &Value) -> bool {
    let is_of_type = match field["type"].as_str() {
        Some("string") => {
            value.as_str().is_some_and(|text| is_within(field, "minLength", "maxLength", count_characters(text)))
        }
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0 && is_in_range(field, number)),
        Some("number") => value.as_f64().is_some_and(|number| is_in_range(field, number)),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.as_array().is_some_and(|chosen| {
            let count = chosen.len() as f64;
            is_within(field, "minItems", "maxItems", count) && chosen.iter().all(|one| is_choice(&field["items"], one))
        }),
        _ => true,
    };
    is_of_type && is_choice(field, value)
}

/// Whether a value is one of the choices of a field, which has them as values or as values with titles.
fn is_choice(field: &Value, value: &Value) -> bool {
    let is_listed = field["enum"].as_array().is_none_or(|values| values.contains(value));
    let mut titled = ["oneOf", "anyOf"].into_iter().filter_map(|name| field[name].as_array());
    is_listed && titled.all(|choices| choices.iter().any(|choice| choice["const"] == *value))
}

fn is_in_range(field: &Value, number: f64) -> bool {
    is_within(field, "minimum", "maximum", number)
}

fn is_within(field: &Value, least: &str, most: &str, number: f64) -> bool {
    field[least].as_f64().is_none_or(|least| number >= least) && field[most].as_f64().is_none_or(|most| number <= most)
}

fn count_characters(text: &str) -> f64 {
    text.chars().count() as f64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn takes(field: &Value, value: &Value) -> bool {
        let schema = json!({"type": "object", "properties": {"field": field}, "required": ["field"]});
        let question = json!({"params": {"requestedSchema": schema}});
        fits(&question, &json!({"action": "accept", "content": {"field": value}}))
    }

    #[test]
    fn fields_take_values_of_their_type_and_bounds() {
        let titled =
            json!({"type": "string", "oneOf": [{"const": "S", "title": "Small"}, {"const": "M", "title": "Medium"}]});
        let several = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1});
        let several_titled = json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}});
        for (field, value, expected) in [
            (json!({"type": "string"}), json!("a"), true),
            (json!({"type": "string"}), json!(1), false),
            (json!({"type": "string", "minLength": 2, "maxLength": 2}), json!("éé"), true),
            (json!({"type": "string", "maxLength": 2}), json!("abc"), false),
            (json!({"type": "integer", "minimum": 0, "maximum": 9}), json!(9), true),
            (json!({"type": "integer", "minimum": 0, "maximum": 9}), json!(10), false),
            (json!({"type": "integer"}), json!(2.0), true),
            (json!({"type": "integer"}), json!(2.5), false),
            (json!({"type": "number"}), json!(2.5), true),
            (json!({"type": "number"}), json!("2.5"), false),
            (json!({"type": "boolean"}), json!(false), true),
            (json!({"type": "boolean"}), json!("yes"), false),
            (json!({"type": "string", "enum": ["S", "M"]}), json!("M"), true),
            (json!({"type": "string", "enum": ["S", "M"]}), json!("XL"), false),
            (titled.clone(), json!("S"), true),
            (titled, json!("Small"), false),
            (several.clone(), json!(["a", "b"]), true),
            (several.clone(), json!([]), false),
            (several, json!(["c"]), false),
            (several_titled.clone(), json!(["a"]), true),
            (several_titled, json!(["A"]), false),
            (json!({"type": "string"}), json!(null), false),
            (json!(true), json!(null), true),
        ] {
            assert_eq!(takes(&field, &value), expected, "{field} {value}");
        }
    }

    #[test]
    fn required_fields_are_there_and_others_are_ignored() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]});
        let question = json!({"params": {"requestedSchema": schema}});
        for (content, expected) in [
            (json!({"name": "Ada"}), true),
            (json!({"name": "Ada", "age": 36, "more": {}}), true),
            (json!({"name": "Ada", "age": "36"}), false),
            (json!({"age": 36}), false),
            (json!({}), false),
        ] {
            assert_eq!(fits(&question, &json!({"action": "accept", "content": content})), expected, "{content}");
        }
        assert!(fits(&question, &json!({"action": "decline"})) && fits(&question, &json!({"action": "cancel"})));
        assert!(!fits(&question, &json!({"action": "accept"})));
    }
}
