//! The nesting of JSON values.

use serde_json::Value;

/// Levels of a value that comes from outside. Documents nest it further, and JSON of more than 128 levels is not read again.
pub const LEVELS_MAX: usize = 64;

/// Whether a value has at most this many levels. Texts and numbers have none.
#[must_use]
pub fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(fields) => levels > 0 && fields.values().all(|field| is_within(field, levels - 1)),
        _ => true,
    }
}
