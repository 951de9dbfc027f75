//! Generates values from schemas, and changes them at one position. The seed makes them reproducible.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

use super::marks;
use crate::document;

/// Texts near the bounds of what the API accepts.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "", " ", "a", "A", "_", "1", "ab", "A_B", "ab_1", "1a", " ab ", "\tAB\n", "é", "日本", "a b", "a-b", "a/b", "a//b",
    "/a", "a/", "a/b/", "tools/x", "../x", "main", "releases/acme", "HEAD", "@", "-a", "a..b", "a.lock", "a.lock/b",
    ".a", "a/.b", "a.", "a@{b", "a b/c", "a~b", "a:b", "a\u{0}b", "a\u{85}", "\u{feff}", "a\\b", "a[b", "😀", "ß_1",
    "regular", "conversation-simulation", "persisted", "ephemeral", "major", "Minor", "direct", "null", "true", "0",
    "691f3b2a5c1e4d7f8a9b0c1d", "691F3B2A5C1E4D7F8A9B0C1D", "691f3b2a5c1e4d7f8a9b0c1", "691f3b2a5c1e4d7f8a9b0c1d0",
    "regular-conversation", "simulation-conversation", "engage-user", "state-transition", "tool-call-state", "\n",
    "acme,ada", "team:*", "team:", ":x", "team", "+name", "-deprecated", " name", "name", "+created_at", "%2Bname",
    ">=1.0", ",", ">=1,<2", "1.0", "~=1.4", "==1.*", "1.0.0", "invocation_status.output", "2030-01-31T12:00:00Z", "2030-01-31T12:00:00", "2030-01-31", "tool_name", "tag.team", "tag.", "(", "admin", "me",
    "author", "aaaaaaaaaaaa", "-1", "5", "20", "21", "1e3", "9", "yes",
];

pub struct Generator {
    random: StdRng,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed) }
    }

    pub fn draw_chance(&mut self, one_in: u32) -> bool {
        self.random.random_range(0..one_in) == 0
    }

    pub fn draw_text(&mut self) -> String {
        match self.random.random_range(0..20) {
            0 => "a".repeat(self.draw_length()),
            1 => "é".repeat(self.draw_length() / 2),
            2 => format!("tools/{}", "x".repeat(self.draw_length())),
            3 => "A".repeat(self.draw_length()),
            _ => (*TEXTS.choose(&mut self.random).unwrap()).to_owned(),
        }
    }

    /// A length near the bounds of texts.
    fn draw_length(&mut self) -> usize {
        let bound = [64_usize, 128, 200, 256, 512, 4096].choose(&mut self.random).copied().unwrap();
        bound.saturating_sub(3) + self.random.random_range(0..6)
    }

    fn draw_integer(&mut self) -> Value {
        let numbers = [json!(0), json!(1), json!(-1), json!(7), json!(i64::MAX), json!(i64::MIN), json!(3.0)];
        numbers.choose(&mut self.random).cloned().unwrap()
    }

    /// A number near the bounds of what the API accepts.
    fn draw_number(&mut self) -> Value {
        let numbers =
            [json!(0), json!(0.0004), json!(0.001), json!(1.5), json!(2), json!(10.0), json!(10.001), json!(-1)];
        numbers.choose(&mut self.random).cloned().unwrap()
    }

    /// Any JSON value.
    pub fn draw_anything(&mut self) -> Value {
        match self.random.random_range(0..10) {
            0 => Value::Null,
            1 => json!(self.draw_chance(2)),
            2 => self.draw_integer(),
            3 => [json!(1.5), json!(1e300), json!(u64::MAX), json!(-0.0)].choose(&mut self.random).cloned().unwrap(),
            4 => json!([]),
            5 => json!({}),
            6 => json!([self.draw_text()]),
            7 => json!({self.draw_text(): self.draw_text()}),
            _ => json!(self.draw_text()),
        }
    }

    /// A value that the schema admits, in most cases.
    pub fn of(&mut self, schema: &Value) -> Value {
        if let Some(alternatives) = schema["anyOf"].as_array() {
            let one = alternatives.choose(&mut self.random).cloned().unwrap();
            return self.of(&one);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let kinds = schema["type"].as_array().cloned().unwrap_or_else(|| vec![schema["type"].clone()]);
        match kinds.choose(&mut self.random).and_then(Value::as_str) {
            Some("object") => self.draw_object(schema),
            Some("array") => self.draw_array(schema),
            Some("string") => self.draw_fitting_text(schema),
            Some("integer") => self.draw_integer(),
            Some("number") => self.draw_number(),
            Some("boolean") => json!(self.draw_chance(2)),
            Some("null") => Value::Null,
            _ => self.draw_anything(),
        }
    }

    fn draw_object(&mut self, schema: &Value) -> Value {
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
            if required || self.draw_chance(2) {
                object.insert(name.clone(), self.of(property));
            }
        }
        if schema["additionalProperties"].is_object() {
            for _ in 0..self.random.random_range(0..4) {
                let name = self.draw_fitting_text(&schema["propertyNames"]);
                object.insert(name.as_str().unwrap_or_default().to_owned(), self.of(&schema["additionalProperties"]));
            }
        }
        Value::Object(object)
    }

    fn draw_array(&mut self, schema: &Value) -> Value {
        if let Some(items) = schema["prefixItems"].as_array() {
            return items.iter().map(|item| self.of(item)).collect();
        }
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let count = self.random.random_range(least..least + 3);
        (0..count).map(|_| self.of(&schema["items"])).collect()
    }

    /// A text that the schema admits, if one is found.
    fn draw_fitting_text(&mut self, schema: &Value) -> Value {
        let drawn =
            (0..40).map(|_| json!(self.draw_text())).chain(schema["enum"].as_array().cloned().unwrap_or_default());
        let drawn: Vec<Value> = drawn.filter(Value::is_string).collect();
        let fits = |text: &Value| match schema["x-parsed"] == "pep-440" {
            true => marks::admits(schema, text),
            false => document::errors(schema, text).is_empty(),
        };
        let fitting: Vec<&Value> = drawn.iter().filter(|text| fits(text)).collect();
        fitting.choose(&mut self.random).map_or_else(|| json!("x"), |text| (*text).clone())
    }

    /// Changes one position: drops, adds, repeats or replaces a value.
    pub fn spoil(&mut self, value: &mut Value) {
        match value {
            Value::Object(map) if !map.is_empty() && !self.draw_chance(6) => {
                let keys: Vec<String> = map.keys().cloned().collect();
                let key = keys.choose(&mut self.random).unwrap();
                match self.random.random_range(0..8) {
                    0 => drop(map.remove(key)),
                    1 => drop(map.insert(self.draw_text(), self.draw_anything())),
                    2 => self.add_crowd(map),
                    _ => self.spoil(map.get_mut(key).unwrap()),
                }
            }
            Value::Array(items) if !items.is_empty() && !self.draw_chance(6) => {
                let index = self.random.random_range(0..items.len());
                match self.random.random_range(0..8) {
                    0 => drop(items.remove(index)),
                    1 => items.push(self.draw_anything()),
                    2 => *items = vec![items[index].clone(); self.random.random_range(9..12)],
                    _ => self.spoil(&mut items[index]),
                }
            }
            other => *other = self.draw_anything(),
        }
    }

    /// Fills an object to about one of the bounds of entries.
    fn add_crowd(&mut self, map: &mut Map<String, Value>) {
        let bound = [20_u8, 100].choose(&mut self.random).copied().unwrap();
        let count = self.random.random_range(bound - 1..bound + 2);
        let first = if self.draw_chance(2) { b'a' } else { b'A' };
        let letter = |number: u8| char::from(first + number % 26);
        map.extend((0..count).map(|number| (format!("{}{}", letter(number), letter(number / 26)), json!("x"))));
    }
}
