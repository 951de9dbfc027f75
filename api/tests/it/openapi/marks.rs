//! Checks values against schemas, with the document's own keywords: `x-stripped`, `x-bytes-max`, `x-unicode` and
//! `x-parsed`.

use registry::{Condition, Constraint, SearchText};
use serde_json::{Map, Value};

use crate::document;

/// Whether a schema admits a value.
pub fn admits(schema: &Value, value: &Value) -> bool {
    let value = stripped(schema, value);
    document::errors(&spelled_out(schema), &value).is_empty() && marks_hold(schema, &value)
}

/// The schema with the character classes of `x-unicode` written out in its patterns.
fn spelled_out(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let spelled = map.iter().map(|(keyword, value)| (keyword.clone(), spelled_out(value)));
            let mut spelled: Map<_, _> = spelled.collect();
            if schema["x-unicode"] == true {
                let pattern = schema["pattern"].as_str().expect("a pattern");
                let pattern = pattern.replace(r"\w", r"\p{Alphabetic}\p{N}_").replace(r"\s", r"\p{White_Space}");
                spelled.insert("pattern".to_owned(), pattern.into());
            }
            Value::Object(spelled)
        }
        Value::Array(items) => items.iter().map(spelled_out).collect(),
        other => other.clone(),
    }
}

/// The value without the white space that `x-stripped` removes.
fn stripped(schema: &Value, value: &Value) -> Value {
    match value {
        Value::String(text) if schema["x-stripped"] == true => Value::String(text.trim().to_owned()),
        Value::Array(items) => items.iter().map(|item| stripped(&schema["items"], item)).collect(),
        Value::Object(map) => {
            let mut found = Map::new();
            for (name, value) in map {
                let value = stripped(of_property(schema, name), value);
                let is_stripped = schema["propertyNames"]["x-stripped"] == true;
                let mut name = if is_stripped { name.trim().to_owned() } else { name.clone() };
                // Two names may become equal; both are checked.
                while found.contains_key(&name) {
                    name.push('_');
                }
                found.insert(name, value);
            }
            Value::Object(found)
        }
        other => other.clone(),
    }
}

fn marks_hold(schema: &Value, value: &Value) -> bool {
    if let Some(alternatives) = schema["anyOf"].as_array() {
        return alternatives.iter().any(|schema| admits(schema, value));
    }
    if schema["x-parsed"] == "condition" && !is_condition(value) {
        return false;
    }
    match value {
        Value::String(text) => text_holds(schema, text),
        Value::Array(items) => items.iter().all(|item| marks_hold(&schema["items"], item)),
        Value::Object(map) => map.iter().all(|(name, value)| {
            text_holds(&schema["propertyNames"], name) && marks_hold(of_property(schema, name), value)
        }),
        _ => true,
    }
}

fn text_holds(schema: &Value, text: &str) -> bool {
    let fits = schema["x-bytes-max"].as_u64().is_none_or(|most| text.len() as u64 <= most);
    fits && is_parsed(schema["x-parsed"].as_str(), text)
}

/// Asks the parser that the mark names.
fn is_parsed(mark: Option<&str>, text: &str) -> bool {
    match mark {
        None => true,
        Some("pep-440") => Constraint::parse(text).is_ok(),
        Some("pep-440-clause") => Constraint::parse(text).is_ok_and(|constraint| !constraint.is_any()),
        Some("search") => SearchText::parse(text).is_ok(),
        Some(other) => panic!("the tests do not know the mark {other}"),
    }
}

fn is_condition(value: &Value) -> bool {
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    Condition::parse(text("key"), text("operator"), text("value")).is_ok()
}

fn of_property<'a>(schema: &'a Value, name: &str) -> &'a Value {
    schema["properties"].get(name).unwrap_or(&schema["additionalProperties"])
}
