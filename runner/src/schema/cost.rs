//! What matching against a schema may cost, told before it is compiled, and told of an input before it is matched.
//!
//! A part of the schema meets a value of the input at most once for every way in which references lead there. So the
//! parts are counted with references followed, and the ways with them: following references can make a short document
//! exponentially wide. A schema that refers to itself goes on as deep as its input does; where two of its references
//! may lead to the same value, the ways double with every level.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Compiling and matching call themselves once per level; their stack is 2 MiB.
const DEPTH_MAX: usize = 100;
/// Far beyond what anyone writes: a schema of 256 KiB has about 5,000.
const PARTS_MAX: usize = 10_000;
/// Definitions that refer to themselves; each is walked on its own.
const RECURSIVE_MAX: usize = 50;
/// Bytes of all patterns. Compiling a class of Unicode takes a tenth of a millisecond and four bytes.
const PATTERN_BYTES_MAX: usize = 4 * 1024;
/// So many bytes of a text cost as much to match as one value more.
const TEXT_BYTES: usize = 32;

/// Keywords whose values are schemas by name.
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/// Keywords whose values are data.
const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
/// Keywords that look at parts of a value, no matter at which.
const DEEPER: [&str; 7] = [
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
];
/// Keywords that make a reference depend on where it is reached from, or that match everything beside them again.
const REFUSED: [&str; 5] =
    ["$dynamicRef", "$recursiveRef", "$dynamicAnchor", "unevaluatedProperties", "unevaluatedItems"];

/// What a schema costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// Parts that may meet a value.
    parts: u64,
    /// Ways that references open with each level of the input; none, when none goes round.
    ways: Option<u64>,
}

impl Cost {
    /// # Errors
    /// Why the schema is refused.
    pub fn of(schema: &Value) -> Result<Self, String> {
        let mut found = BTreeSet::from(["#"]);
        let mut waiting = vec!["#"];
        let (mut parts, mut ways) = (0, None);
        while let Some(start) = waiting.pop() {
            let walk = Walk::from(schema, start)?;
            parts = parts.max(PARTS_MAX - walk.left);
            ways = ways.max(walk.ways());
            waiting.extend(walk.rounds.keys().filter(|target| found.insert(target)));
            if found.len() > RECURSIVE_MAX {
                return Err(format!("the schema has more than {RECURSIVE_MAX} definitions that refer to themselves"));
            }
        }
        Ok(Self { parts: parts as u64, ways })
    }

    pub const fn is_recursive(&self) -> bool {
        self.ways.is_some()
    }

    /// How often a part meets a value when this input is matched, at most.
    pub fn with(&self, input: &Value) -> u64 {
        self.parts.saturating_mul(meetings(input, self.ways.unwrap_or(1), 1))
    }
}

/// How often references lead to the values of `value`, when they lead `times` to itself.
fn meetings(value: &Value, ways: u64, times: u64) -> u64 {
    let inner = times.saturating_mul(ways);
    let sum = |sum: u64, value| sum.saturating_add(meetings(value, ways, inner));
    let text = |text: &str| times.saturating_mul((text.len() / TEXT_BYTES) as u64);
    match value {
        Value::Array(items) => items.iter().fold(times, sum),
        Value::Object(members) => members.iter().fold(times, |all, (name, value)| sum(all, value) + text(name)),
        Value::String(string) => times.saturating_add(text(string)),
        _ => times,
    }
}

/// The first step from a definition to a part of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step<'a> {
    Any,
    Named(&'a str),
}

/// A reference that is being followed, and how many steps into the value led to it.
struct Followed<'a> {
    reference: &'a str,
    steps: usize,
}

struct Walk<'a> {
    root: &'a Value,
    left: usize,
    pattern_bytes_left: usize,
    followed: Vec<Followed<'a>>,
    steps: Vec<Step<'a>>,
    /// References that go round: their targets, and the first steps on the way there.
    rounds: BTreeMap<&'a str, Vec<Step<'a>>>,
}

impl<'a> Walk<'a> {
    fn from(root: &'a Value, start: &'a str) -> Result<Self, String> {
        let (left, pattern_bytes_left) = (PARTS_MAX, PATTERN_BYTES_MAX);
        let (followed, steps, rounds) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut walk = Self { root, left, pattern_bytes_left, followed, steps, rounds };
        walk.follow(start, 0)?;
        Ok(walk)
    }

    /// In how many ways one value may be reached again.
    fn ways(&self) -> Option<u64> {
        let steps: Vec<Step> = self.rounds.values().flatten().copied().collect();
        let count = |step: Step| steps.iter().filter(|other| **other == step).count();
        let anywhere = count(Step::Any);
        let most =
            steps.iter().map(|step| if *step == Step::Any { anywhere } else { anywhere + count(*step) }).max()?;
        Some(most as u64)
    }

    fn visit(&mut self, schema: &'a Value, depth: usize) -> Result<(), String> {
        let more = format!("the schema has more than {PARTS_MAX} parts with its references followed");
        self.left = self.left.checked_sub(1).ok_or(more)?;
        let Value::Object(keywords) = schema else { return Ok(()) };
        if depth > DEPTH_MAX {
            return Err(format!("the schema is nested more than {DEPTH_MAX} deep"));
        }
        keywords.iter().try_for_each(|(keyword, value)| self.keyword(keyword, value, depth))
    }

    fn keyword(&mut self, keyword: &'a str, value: &'a Value, depth: usize) -> Result<(), String> {
        if REFUSED.contains(&keyword) || (keyword == "$id" && depth > 1) {
            return Err(format!("{keyword} is not supported"));
        }
        if keyword == "pattern" || keyword == "patternProperties" {
            self.patterns(value)?;
        }
        let is_deeper = DEEPER.contains(&keyword);
        if is_deeper {
            self.steps.push(Step::Any);
        }
        self.parts_of(keyword, value, depth)?;
        if is_deeper {
            self.steps.pop();
        }
        Ok(())
    }

    fn parts_of(&mut self, keyword: &'a str, value: &'a Value, depth: usize) -> Result<(), String> {
        match value {
            // Nothing in data is a schema, but each of its values may be compared.
            _ if DATA.contains(&keyword) => self.data(value),
            Value::String(reference) if keyword == "$ref" => self.follow(reference, depth),
            Value::Object(named) if keyword == "properties" => named.iter().try_for_each(|(name, schema)| {
                self.steps.push(Step::Named(name));
                self.visit(schema, depth + 1)?;
                self.steps.pop();
                Ok(())
            }),
            // They count where they are referred to.
            Value::Object(_) if keyword == "$defs" || keyword == "definitions" => self.definitions(value, depth),
            Value::Object(named) if NAMED.contains(&keyword) => {
                named.values().try_for_each(|schema| self.visit(schema, depth + 1))
            }
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.visit(schema, depth + 1)),
            schema => self.visit(schema, depth + 1),
        }
    }

    fn data(&mut self, value: &Value) -> Result<(), String> {
        let values = 1 + match value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            _ => 0,
        };
        let more = || format!("the schema has more than {PARTS_MAX} parts with its references followed");
        self.left = self.left.checked_sub(values).ok_or_else(more)?;
        Ok(())
    }

    /// Those that nothing refers to are compiled all the same.
    fn definitions(&mut self, named: &'a Value, depth: usize) -> Result<(), String> {
        let Value::Object(named) = named else { return Ok(()) };
        let rounds = std::mem::take(&mut self.rounds);
        named.values().try_for_each(|schema| self.visit(schema, depth + 1))?;
        let inside = std::mem::replace(&mut self.rounds, rounds);
        for target in inside.into_keys() {
            self.rounds.entry(target).or_default();
        }
        Ok(())
    }

    fn patterns(&mut self, value: &Value) -> Result<(), String> {
        let bytes = match value {
            Value::String(pattern) => pattern.len(),
            Value::Object(named) => named.keys().map(String::len).sum(),
            _ => 0,
        };
        let more =
            || format!("the schema has more than {PATTERN_BYTES_MAX} bytes of patterns with its references followed");
        self.pattern_bytes_left = self.pattern_bytes_left.checked_sub(bytes).ok_or_else(more)?;
        Ok(())
    }

    fn follow(&mut self, reference: &'a str, depth: usize) -> Result<(), String> {
        if let Some(round) = self.followed.iter().find(|followed| followed.reference == reference) {
            if round.steps == self.steps.len() {
                return Err(format!("$ref {reference:?} leads back to itself and not into the input"));
            }
            self.rounds.entry(reference).or_default().extend(self.steps.first());
            return Ok(());
        }
        let unknown = || format!("$ref {reference:?} is no part of the document; write it as \"#/$defs/NAME\"");
        let pointer = reference.strip_prefix('#').filter(|pointer| !pointer.contains('%')).ok_or_else(unknown)?;
        let root = self.root;
        let target = root.pointer(pointer).ok_or_else(unknown)?;
        self.followed.push(Followed { reference, steps: self.steps.len() });
        self.visit(target, depth + 1)?;
        self.followed.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// `length` definitions that each refer to the next `times` times.
    fn chain(length: usize, times: usize) -> Value {
        let definition = |index: usize| json!({"allOf": vec![json!({"$ref": format!("#/$defs/{index}")}); times]});
        let mut names: serde_json::Map<_, _> = (0..length).map(|i| (i.to_string(), definition(i + 1))).collect();
        names.insert(length.to_string(), json!(true));
        json!({"$ref": "#/$defs/0", "$defs": names})
    }

    #[track_caller]
    fn ways(schema: &Value) -> Option<u64> {
        Cost::of(schema).unwrap().ways
    }

    fn refusal(schema: &Value) -> String {
        Cost::of(schema).unwrap_err()
    }

    #[test]
    fn plain_and_recursive_schemas_are_told_apart() {
        assert_eq!(ways(&json!({"properties": {"$ref": {"type": "string"}}})), None);
        assert_eq!(ways(&chain(3, 2)), None);
        assert_eq!(ways(&json!({"properties": {"next": {"$ref": "#"}}})), Some(1));
        assert_eq!(ways(&json!({"const": {"$ref": "elsewhere"}})), None);
    }

    #[test]
    fn ways_to_the_same_value_are_counted() {
        let me = json!({"$ref": "#"});
        let left_right = json!({"properties": {"left": me, "right": {"anyOf": [me, {"type": "null"}]}}});
        assert_eq!(ways(&left_right), Some(1));
        assert_eq!(ways(&json!({"items": me, "contains": me})), Some(2));
        assert_eq!(ways(&json!({"properties": {"a": me}, "additionalProperties": me})), Some(2));
        let branch = json!({"properties": {"c": me}});
        assert_eq!(ways(&json!({"anyOf": [branch, branch, branch]})), Some(3));
        let kinds = json!({"anyOf": [{"$ref": "#/$defs/add"}, {"$ref": "#/$defs/neg"}]});
        let defs = json!({"add": {"properties": {"a": kinds, "b": kinds}}, "neg": {"properties": {"a": kinds}}});
        assert_eq!(ways(&json!({"$ref": "#/$defs/add", "$defs": defs})).map(|ways| ways >= 2), Some(true));
    }

    #[test]
    fn an_input_costs_what_meets() {
        let cost = Cost { parts: 10, ways: None };
        assert_eq!(cost.with(&json!([1, [2, 3]])), 50);
        assert_eq!(cost.with(&json!("x".repeat(320))), 110);
        let cost = Cost { parts: 1, ways: Some(2) };
        assert_eq!(cost.with(&json!({"c": {"c": {"c": 1}}})), 1 + 2 + 4 + 8);
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner, inner.is_null()]));
        assert_eq!(cost.with(&deep), u64::MAX);
    }

    #[test]
    fn what_would_cost_too_much_is_refused() {
        assert!(refusal(&chain(30, 2)).contains("more than 10000 parts"));
        assert!(refusal(&chain(300, 1)).contains("deep"));
        let deep = (0..120).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(refusal(&deep).contains("deep"));
        assert!(refusal(&json!({"enum": vec![json!("x"); 10_001]})).contains("parts"));
        let patterns: Vec<_> = (0..20).map(|_| json!({"pattern": r"(?i)[\PL\PL\PL]*".repeat(20)})).collect();
        assert!(refusal(&json!({"anyOf": patterns})).contains("patterns"));
        assert!(refusal(&json!({"unevaluatedProperties": false})).contains("not supported"));
    }

    #[test]
    fn a_round_that_goes_nowhere_is_refused() {
        let defs = json!({"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}});
        assert!(refusal(&json!({"$ref": "#/$defs/a", "$defs": defs})).contains("leads back to itself"));
        assert!(refusal(&json!({"anyOf": [{"$ref": "#"}]})).contains("leads back to itself"));
    }

    #[test]
    fn references_out_of_the_document_are_refused() {
        for reference in ["https://example.com/x", "other.json", "#/$defs/missing", "#anchor"] {
            assert!(Cost::of(&json!({"$ref": reference})).is_err(), "{reference}");
        }
        assert!(Cost::of(&json!({"$dynamicRef": "#x"})).is_err());
    }
}
