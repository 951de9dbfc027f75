//! The kinds of JSON values that a schema may accept.

use serde_json::{Map, Value};

/// Levels of nested branches that are examined. A deeper branch counts as accepting all kinds.
const DEPTH_MAX: u32 = 4;

/// A set of kinds. Integers are a kind of their own; the type `number` contains them and all other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u8);

impl Kinds {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(127);
    pub const NUMBER: Self = Self(1 | 2);
    pub const STRING: Self = Self(4);
    pub const ARRAY: Self = Self(8);
    pub const OBJECT: Self = Self(16);
    const INTEGER: Self = Self(1);
    const BOOLEAN: Self = Self(32);
    const NULL: Self = Self(64);

    /// The kinds, with their names in schemas.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("integer", Self::INTEGER),
        ("number", Self::NUMBER),
        ("string", Self::STRING),
        ("array", Self::ARRAY),
        ("object", Self::OBJECT),
        ("boolean", Self::BOOLEAN),
        ("null", Self::NULL),
    ];

    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn meets(self, other: Self) -> bool {
        self.and(other) != Self::NONE
    }

    pub fn is_within(self, other: Self) -> bool {
        self.and(other) == self
    }

    /// The kinds that a value of the keyword `type` allows.
    pub fn of_type(value: &Value) -> Self {
        match value {
            Value::String(name) => Self::of_name(name),
            Value::Array(names) => names.iter().filter_map(Value::as_str).map(Self::of_name).fold(Self::NONE, Self::or),
            _ => Self::ALL,
        }
    }

    fn of_name(name: &str) -> Self {
        Self::NAMES.iter().find(|(known, _)| *known == name).map_or(Self::ALL, |(_, kinds)| *kinds)
    }

    pub fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
            Value::Number(number) if number.is_f64() => Self::NUMBER,
            Value::Number(_) => Self::INTEGER,
        }
    }

    /// A superset of the kinds that the schema accepts. References are not followed.
    pub fn of(schema: &Value) -> Self {
        Self::of_schema(schema, DEPTH_MAX)
    }

    pub fn of_map(schema: &Map<String, Value>) -> Self {
        Self::of_keywords(schema, DEPTH_MAX)
    }

    fn of_schema(schema: &Value, depth: u32) -> Self {
        match schema {
            Value::Bool(false) => Self::NONE,
            Value::Object(schema) if depth > 0 => Self::of_keywords(schema, depth - 1),
            _ => Self::ALL,
        }
    }

    fn of_keywords(schema: &Map<String, Value>, depth: u32) -> Self {
        let union = |values: &[Value], of: &dyn Fn(&Value) -> Self| values.iter().map(of).fold(Self::NONE, Self::or);
        let mut kinds = schema.get("type").map_or(Self::ALL, Self::of_type);
        if let Some(value) = schema.get("const") {
            kinds = kinds.and(Self::of_value(value));
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            kinds = kinds.and(union(values, &Self::of_value));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = schema.get(keyword) {
                kinds = kinds.and(union(branches, &|branch| Self::of_schema(branch, depth)));
            }
        }
        if let Some(Value::Array(all)) = schema.get("allOf") {
            kinds = all.iter().map(|one| Self::of_schema(one, depth)).fold(kinds, Self::and);
        }
        kinds
    }
}
