//! Schemas that apply to the same values, and their combined constraints.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::kinds::Kinds;
use super::numbers::{count, find_number, is_multiple};

/// The schema `{"type": …}` of each kind.
pub(super) static OF_KIND: LazyLock<Vec<(Kinds, Map<String, Value>)>> = LazyLock::new(|| {
    let of = |(name, kinds): &(&str, Kinds)| (*kinds, Map::from_iter([("type".to_owned(), json!(name))]));
    Kinds::NAMES.iter().map(of).collect()
});

/// A schema that old values satisfy, without one keyword that is already handled.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub map: &'a Map<String, Value>,
    pub without: &'static str,
}

impl<'a> Part<'a> {
    pub fn get(&self, keyword: &str) -> Option<&'a Value> {
        if keyword == self.without { None } else { self.map.get(keyword) }
    }

    pub fn place(&self) -> (usize, &'static str) {
        (std::ptr::from_ref(self.map).addr(), self.without)
    }
}

/// Schemas that every old value satisfies.
pub(super) type Parts<'a> = Vec<Part<'a>>;

/// Whether two values may be equal. An integer may be written as a float, also within arrays and objects.
pub(super) fn may_be_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => true,
        _ => one == other,
    }
}

/// The values that a schema lists as the only accepted ones. `None` when it lists none.
pub(super) fn list_values<'a>(part: &Part<'a>) -> Option<Vec<&'a Value>> {
    list_values_of(part.map)
}

pub(super) fn list_values_of(map: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (map.get("const"), map.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Whether a part has a count that is at least as strict as that of the new schema.
pub(super) fn implies_count(old: &[Part<'_>], new: &Map<String, Value>, keyword: &str) -> bool {
    let Some(bound) = count(new, keyword) else { return false };
    let is_least = keyword.starts_with("min");
    let implies = |had: u64| if is_least { had >= bound } else { had <= bound };
    (is_least && bound == 0) || old.iter().filter_map(|part| count(part.map, keyword)).any(implies)
}

pub(super) fn is_multiple_of(old: &[Part<'_>], new: &Map<String, Value>) -> bool {
    let Some(wanted) = find_number(new, "multipleOf") else { return false };
    let is_whole = |part: &Part<'_>| part.get("type").and_then(Value::as_str) == Some("integer");
    (wanted.as_u64() == Some(1) && old.iter().any(is_whole))
        || old.iter().filter_map(|part| find_number(part.map, "multipleOf")).any(|had| is_multiple(had, wanted))
}
