//! The spelling of integers in inputs. A walk takes each value of an input with the parts of the schema that apply to it, each part once,
//! so that its work is at most the parts of the schema for each value.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::bounds::names_type;

/// Keywords with schemas of the same value.
const COMPOSED: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// References that are followed one after another. A schema with more is refused.
const DEPTH_MAX: usize = 100;
/// The first whole number beyond 64 bits, with and without a sign.
const UNSIGNED_END: f64 = 18_446_744_073_709_551_616.0;
const SIGNED_END: f64 = 9_223_372_036_854_775_808.0;

/// A schema whose integers are found in inputs.
pub struct Integers<'a> {
    root: &'a Value,
}

/// Whether a JSON text has a number with a fraction or an exponent. The text is valid.
pub fn has_fractions(text: &str) -> bool {
    let mut bytes = text.bytes();
    let mut is_number = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'0'..=b'9' | b'-' => {
                is_number = true;
                continue;
            }
            b'.' | b'e' | b'E' if is_number => return true,
            _ => {}
        }
        is_number = false;
    }
    false
}

fn skip_string(bytes: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

impl<'a> Integers<'a> {
    pub const fn of(root: &'a Value) -> Self {
        Self { root }
    }

    /// Whether any part of a schema, or of data in it, names the type.
    pub fn are_in(schema: &Value) -> bool {
        match schema {
            Value::Array(items) => items.iter().any(Self::are_in),
            Value::Object(members) => names_type(members, "integer") || members.values().any(Self::are_in),
            _ => false,
        }
    }

    /// Spells the integers of an input without fraction and exponent, up to 64 bits.
    pub fn spell(&self, input: &mut Value) {
        self.spell_value(input, vec![self.root]);
    }

    fn spell_value(&self, value: &mut Value, schemas: Vec<&'a Value>) {
        match value {
            Value::Number(number) if number.is_f64() => {
                let are_called = schemas.iter().filter_map(|schema| self.calls_for_integer(schema, DEPTH_MAX));
                if are_called.reduce(|all, one| all && one) == Some(true)
                    && let Some(integer) = number.as_f64().and_then(to_whole)
                {
                    *value = integer;
                }
            }
            Value::Array(_) | Value::Object(_) => {
                let parts = self.collect_applicable(schemas, value);
                self.spell_members(value, &parts);
            }
            _ => {}
        }
    }

    fn spell_members(&self, value: &mut Value, parts: &[&'a Map<String, Value>]) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate().filter(|(_, item)| may_have_floats(item)) {
                    self.spell_value(item, parts.iter().flat_map(|part| of_item(part, index)).collect());
                }
            }
            Value::Object(members) => {
                for (name, member) in members.iter_mut().filter(|(_, member)| may_have_floats(member)) {
                    self.spell_value(member, parts.iter().flat_map(|part| of_member(part, name)).collect());
                }
            }
            _ => {}
        }
    }

    /// Whether a schema calls a number an integer; `None` when it names no type of numbers.
    fn calls_for_integer(&self, schema: &'a Value, depth: usize) -> Option<bool> {
        let (keywords, depth) = (schema.as_object()?, depth.checked_sub(1)?);
        let own =
            if names_type(keywords, "number") { Some(false) } else { names_type(keywords, "integer").then_some(true) };
        let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
        let inner = |schema| self.calls_for_integer(schema, depth);
        let either = list("anyOf").chain(list("oneOf")).filter_map(inner).reduce(|all, one| all && one);
        let target = keywords.get("$ref").and_then(|reference| self.find_target(reference));
        let both = list("allOf").chain(target).filter_map(inner);
        both.chain(own).chain(either).reduce(|any, one| any || one)
    }

    fn find_target(&self, reference: &Value) -> Option<&'a Value> {
        self.root.pointer(reference.as_str()?.strip_prefix('#')?)
    }

    /// The schemas that apply to a list or an object, with those that they name for the same value.
    fn collect_applicable(&self, schemas: Vec<&'a Value>, value: &Value) -> Vec<&'a Map<String, Value>> {
        let (mut waiting, mut seen, mut found) = (schemas, HashSet::new(), Vec::new());
        while let Some(schema) = waiting.pop() {
            let Some(keywords) = schema.as_object().filter(|keywords| seen.insert(std::ptr::from_ref(*keywords)))
            else {
                continue;
            };
            if !self.may_match(schema, value) {
                continue;
            }
            found.push(keywords);
            waiting.extend(keywords.get("$ref").and_then(|reference| self.find_target(reference)));
            waiting.extend(COMPOSED.iter().filter_map(|keyword| keywords.get(*keyword)?.as_array()).flatten());
            let holds = keywords.get("if").is_none_or(|condition| self.may_match(condition, value));
            waiting.extend(keywords.get("then").filter(|_| holds));
            waiting.extend(keywords.get("else"));
            let dependent = keywords.get("dependentSchemas").and_then(Value::as_object);
            waiting.extend(dependent.into_iter().flatten().map(|(_, schema)| schema));
        }
        found
    }

    /// Whether the type and the constants of a schema admit a list or an object. It tells the variants of a type apart.
    fn may_match(&self, schema: &Value, value: &Value) -> bool {
        let Some(keywords) = schema.as_object() else { return true };
        let name = if value.is_array() { "array" } else { "object" };
        if keywords.contains_key("type") && !names_type(keywords, name) {
            return false;
        }
        let Some(members) = value.as_object() else { return true };
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        if required.filter_map(Value::as_str).any(|name| !members.contains_key(name)) {
            return false;
        }
        let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
        let constants = properties.filter_map(|(name, schema)| Some((members.get(name)?, schema.as_object()?)));
        constants.into_iter().all(|(member, schema)| {
            let is_listed = |listed: &Value| listed.as_array().is_none_or(|values| values.contains(member));
            let is_scalar = !member.is_array() && !member.is_object() && !member.is_number();
            !is_scalar
                || (schema.get("const").is_none_or(|one| one == member) && schema.get("enum").is_none_or(is_listed))
        })
    }
}

fn may_have_floats(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(_) | Value::Object(_) => true,
        _ => false,
    }
}

fn of_item(part: &Map<String, Value>, index: usize) -> Vec<&Value> {
    let own = ["prefixItems", "items"].into_iter().filter_map(|keyword| part.get(keyword)?.as_array()?.get(index));
    let mut found: Vec<_> = own.collect();
    // The items before the rest have schemas of their own.
    if found.is_empty() {
        let rest = ["items", "additionalItems"].into_iter().filter_map(|keyword| part.get(keyword));
        found.extend(rest.filter(|schema| schema.is_object()));
    }
    found
}

fn of_member<'a>(part: &'a Map<String, Value>, name: &str) -> Vec<&'a Value> {
    let named = part.get("properties").and_then(|properties| properties.get(name));
    let by_pattern = part.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    // Patterns are not matched here: a schema for another name changes no value that its own schema calls a number.
    let mut found: Vec<_> = named.into_iter().chain(by_pattern.map(|(_, schema)| schema)).collect();
    if named.is_none() {
        found.extend(part.get("additionalProperties"));
    }
    found
}

/// A whole number of up to 64 bits as an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked, and a fraction is refused"
)]
fn to_whole(number: f64) -> Option<Value> {
    if number.fract() != 0.0 {
        return None;
    }
    if (-SIGNED_END..SIGNED_END).contains(&number) {
        return Some(Value::from(number as i64));
    }
    (SIGNED_END..UNSIGNED_END).contains(&number).then(|| Value::from(number as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, input: &str, expected: &str) {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let mut value = read(input);
        Integers::of(schema).spell(&mut value);
        assert_eq!(value, read(expected), "{input}");
    }

    #[test]
    fn integers_are_spelled_as_such_in_every_place() {
        let integer = json!({"type": "integer"});
        let schema = json!({
            "properties": {
                "plain": integer, "optional": {"anyOf": [integer, {"type": "null"}]}, "list": {"items": integer},
                "pair": {"prefixItems": [{"type": "number"}, integer], "items": integer},
                "map": {"additionalProperties": integer}, "named": {"$ref": "#/$defs/count"},
                "all": {"allOf": [{"type": "number"}, {"minimum": 0, "type": "integer"}]},
            },
            "$defs": {"count": {"type": ["integer", "null"]}},
        });
        for (input, expected) in [
            (r#"{"plain":1.0}"#, r#"{"plain":1}"#),
            (r#"{"plain":1e2}"#, r#"{"plain":100}"#),
            (r#"{"plain":-0.0}"#, r#"{"plain":0}"#),
            (r#"{"optional":2.0}"#, r#"{"optional":2}"#),
            (r#"{"list":[1,2.0,3e0]}"#, r#"{"list":[1,2,3]}"#),
            (r#"{"pair":[1.0,2.0,3.0]}"#, r#"{"pair":[1.0,2,3]}"#),
            (r#"{"map":{"a":1E1}}"#, r#"{"map":{"a":10}}"#),
            (r#"{"named":4.0,"all":5.0}"#, r#"{"all":5,"named":4}"#),
            (r#"{"plain":1e19}"#, r#"{"plain":10000000000000000000}"#),
            (r#"{"plain":1e30,"other":1.0}"#, r#"{"plain":1e30,"other":1.0}"#),
            (r#"{"plain":1.5}"#, r#"{"plain":1.5}"#),
        ] {
            check(&schema, input, expected);
        }
    }

    #[test]
    fn a_number_that_may_be_a_float_stays_as_it_is() {
        let either = json!({"properties": {"n": {"anyOf": [{"type": "integer"}, {"type": "number"}]}}});
        check(&either, r#"{"n":1.0}"#, r#"{"n":1.0}"#);
        let both = json!({"properties": {"n": {"type": ["integer", "number"]}}});
        check(&both, r#"{"n":1.0}"#, r#"{"n":1.0}"#);
    }

    #[test]
    fn the_variants_of_a_type_are_told_apart() {
        let variant =
            |kind: &str, r#type: &str| json!({"properties": {"kind": {"const": kind}, "n": {"type": r#type}}});
        let schema = json!({"oneOf": [variant("count", "integer"), variant("share", "number")]});
        check(&schema, r#"{"kind":"count","n":1.0}"#, r#"{"kind":"count","n":1}"#);
        check(&schema, r#"{"kind":"share","n":1.0}"#, r#"{"kind":"share","n":1.0}"#);
        let condition = |kind: &str, r#type: &str| {
            let then = json!({"properties": {"n": {"type": r#type}}});
            json!({"if": {"properties": {"kind": {"const": kind}}}, "then": then})
        };
        let apis = json!({"allOf": [condition("count", "integer"), condition("share", "number")]});
        check(&apis, r#"{"kind":"count","n":1.0}"#, r#"{"kind":"count","n":1}"#);
        check(&apis, r#"{"kind":"share","n":1.0}"#, r#"{"kind":"share","n":1.0}"#);
        let tree =
            json!({"properties": {"n": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}});
        check(&tree, r#"{"next":{"next":{"n":3.0}}}"#, r#"{"next":{"next":{"n":3}}}"#);
    }

    #[test]
    fn texts_without_fractions_are_recognised() {
        for text in ["{}", r#"{"a":1,"b":[true,-2]}"#, r#"{"1.5":"2e3 \" 1.0"}"#, r#"[false,"e"]"#] {
            assert!(!has_fractions(text), "{text}");
        }
        for text in ["[1.0]", r#"{"a":1e3}"#, "[-2E1]"] {
            assert!(has_fractions(text), "{text}");
        }
    }
}
