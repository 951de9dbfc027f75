//! Checks values against schemas, with the document's own keywords: `x-stripped`, `x-bytes-max`, `x-unicode` and
//! `x-parsed`.

use registry::{Condition, Constraint, SearchText};
use serde_json::{Map, Value};

use crate::document;

/// Whether a schema admits a value.
pub fn admits(schema: &Value, value: &Value) -> bool {
    let value = strip_marks(schema, value);
    document::errors(&spell_out_marks(schema), &value).is_empty() && marks_hold(schema, &value)
}

/// The schema with the character classes of `x-unicode` written out in its patterns.
fn spell_out_marks(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let spelled = map.iter().map(|(keyword, value)| (keyword.clone(), spell_out_marks(value)));
            let mut spelled: Map<_, _> = spelled.collect();
            if schema["x-unicode"] == true {
                let pattern = schema["pattern"].as_str().expect("a pattern");
                let pattern = pattern.replace(r"\w", r"\p{Alphabetic}\p{N}_").replace(r"\s", r"\p{White_Space}");
                spelled.insert("pattern".to_owned(), pattern.into());
            }
            Value::Object(spelled)
        }
        Value::Array(items) => items.iter().map(spell_out_marks).collect(),
        other => other.clone(),
    }
}

/// The value without the white space that `x-stripped` removes.
fn strip_marks(schema: &Value, value: &Value) -> Value {
    match value {
        Value::String(text) if schema["x-stripped"] == true => Value::String(text.trim().to_owned()),
        Value::Array(items) => items.iter().map(|item| strip_marks(&schema["items"], item)).collect(),
        Value::Object(map) => {
            let mut found = Map::new();
            for (name, value) in map {
                let value = strip_marks(of_property(schema, name), value);
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
    let holds = match schema["x-parsed"].as_str() {
        Some("condition") => is_condition(value),
        Some("conversation") => is_conversation(value),
        Some("agent-state") => is_state(value),
        _ => true,
    };
    if !holds {
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

/// The ids of a simulation belong to its mode.
fn is_conversation(value: &Value) -> bool {
    let ids = ["simulation_unit_test_set_run_id", "unit_test_id", "run_index"];
    value["mode"] == "conversation-simulation" || ids.iter().all(|name| value[*name].is_null())
}

/// A state has the lists of its type, each with different tools.
fn is_state(value: &Value) -> bool {
    let own = match value["type"].as_str() {
        Some("action") => ["action_tool_call_specs", "exit_condition_tool_call_specs"],
        Some("tool-call") => ["designated_tool", "tool_call_specs"],
        _ => ["tool_call_specs"; 2],
    };
    let lists = ["action_tool_call_specs", "exit_condition_tool_call_specs", "tool_call_specs"];
    let tools = |list: &str| -> Vec<&Value> {
        value[list].as_array().into_iter().flatten().map(|spec| &spec["tool_id"]).collect()
    };
    let are_different = |tools: &[&Value]| (1..tools.len()).all(|index| !tools[..index].contains(&tools[index]));
    let has_others =
        lists.iter().chain(&["designated_tool"]).any(|name| !own.contains(name) && !value[*name].is_null());
    let designated = &value["designated_tool"];
    let is_called = value["type"] != "tool-call"
        || !designated.is_null() && !tools("tool_call_specs").contains(&&designated["tool_id"]);
    !has_others && is_called && lists.iter().all(|list| are_different(&tools(list)))
}

fn of_property<'a>(schema: &'a Value, name: &str) -> &'a Value {
    schema["properties"].get(name).unwrap_or(&schema["additionalProperties"])
}
