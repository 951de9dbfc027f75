//! Forms of values that more than one operation reads, as JSON Schemas.
//!
//! Four marks of ours say what JSON Schema has no word for:
//!
//! | mark | meaning |
//! |---|---|
//! | `x-stripped` | surrounding white space is dropped, then the rest is checked |
//! | `x-bytes-max` | a bound in bytes of UTF-8; `maxLength` counts characters |
//! | `x-unicode` | `\w` and `\s` of the pattern mean letters, digits and white space of any script |
//! | `x-parsed` | the text is parsed as what the mark says; the rest of the schema is necessary, and not enough |

use serde_json::{Value, json};

/// Ids of this service and of those beside it.
pub(crate) fn object_id() -> Value {
    json!({"type": "string", "pattern": "^[a-f0-9]{24}$"})
}

pub(crate) fn text() -> Value {
    json!({"type": "string"})
}

pub(crate) fn one_of<T>(choices: &[(&str, T)]) -> Value {
    let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
    json!({"type": "string", "enum": words})
}

/// An object from names to values of one form.
pub(crate) fn map(names: &Value, values: &Value, count_max: usize) -> Value {
    json!({"type": "object", "propertyNames": names, "additionalProperties": values, "maxProperties": count_max})
}

/// The form, or null.
pub(crate) fn or_null(mut form: Value) -> Value {
    form["type"] = json!([form["type"], "null"]);
    if let Some(words) = form.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    form
}

/// The form with words about it.
pub(crate) fn said(mut form: Value, words: &str) -> Value {
    form["description"] = json!(words);
    form
}

/// The form with the value that its absence means.
pub(crate) fn default(mut form: Value, value: &Value) -> Value {
    form["default"] = value.clone();
    form
}
