//! Prices a schema, and refuses one whose cost has no bound.
//!
//! A part of the schema is compared with a value of the input at most once for every way in which references lead
//! there. So parts and ways are counted with references followed. References can make a short document exponentially
//! large. `docs/reference/schema-cost.md` has the price list.

mod position;
mod prices;
mod recursion;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::cost::{Cost, Recursion, Steps};
use super::patterns;
use position::Position;
use prices::{Draft, KeywordTraits};
use recursion::{Recursions, Step};

/// Nesting of a schema. Compiling and matching recurse once per level, on a stack of 2 MiB.
const DEPTH_MAX: usize = 100;
/// Parts of a schema with references followed. A schema of 256 KiB has about 5,000.
const PARTS_MAX: usize = 10_000;
/// Recursive definitions. Each is walked separately.
const RECURSIVE_MAX: usize = 50;
/// Bytes of all patterns. Each pattern is compiled and kept in memory with its version.
const PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Parts of all walks together. The definitions of ordinary schemas overlap little.
const WALKED_MAX: usize = 100_000;

/// Prices a schema.
///
/// # Errors
/// The reason why it is refused, with a JSON pointer to the place.
pub fn price(schema: &Value) -> Result<Cost, String> {
    let mut found = BTreeSet::from(["#"]);
    let mut waiting = vec!["#"];
    let mut walked = 0;
    let mut walks = BTreeMap::new();
    let mut cost = Cost { steps: Steps::default(), recursion: None, depth: 0, most_expensive: String::new() };
    while let Some(start) = waiting.pop() {
        let walk = Walk::from(schema, start)?;
        if start == "#" {
            cost.most_expensive.clone_from(&walk.most_expensive.1);
        }
        cost = Cost { steps: cost.steps.max(walk.cost), depth: cost.depth.max(walk.deepest as u64), ..cost };
        walked += PARTS_MAX - walk.left;
        if walked > WALKED_MAX {
            return Err(format!("recursive definitions have more than {WALKED_MAX} parts together"));
        }
        waiting.extend(walk.recursions.targets().filter(|target| found.insert(target)));
        if found.len() > RECURSIVE_MAX {
            return Err(format!("the schema has more than {RECURSIVE_MAX} recursive definitions"));
        }
        walks.insert(start, (walk.cost, walk.recursions));
    }
    Ok(Cost { recursion: combine(&walks), ..cost })
}

/// Combines the recursive references of all walks; `None` when there are none.
fn combine(walks: &BTreeMap<&str, (Steps, Recursions<'_>)>) -> Option<Recursion> {
    let (once, first) = walks.get("#").map(|(cost, recursions)| (*cost, recursions.count_ways()))?;
    let all = || walks.values().map(|(_, recursions)| recursions);
    let is_target = |start: &str| all().any(|recursions| recursions.targets().any(|target| target == start));
    let definitions = || walks.iter().filter(|(start, _)| is_target(start));
    let further = definitions().map(|(_, (_, recursions))| recursions.count_ways()).max()?;
    let repeats = recursion::compute_repeats(further);
    let kept = definitions().map(|(start, (cost, _))| {
        let calls: u64 = all().map(|recursions| recursions.count_calls_of(start)).sum();
        cost.times(calls.max(1).saturating_mul(repeats))
    });
    let kept = kept.fold(Steps::default(), Steps::plus);
    let names: Option<BTreeSet<_>> = all().flat_map(Recursions::members).collect();
    let members = names.map(|names| names.into_iter().map(str::to_owned).collect());
    Some(Recursion { first: first.max(1), further: further.max(1), kept, once, members })
}

/// A reference that is being followed, and the number of steps into the value that led to it.
struct FollowedReference<'a> {
    reference: &'a str,
    steps: usize,
}

struct Walk<'a> {
    root: &'a Value,
    draft: Draft,
    left: usize,
    pattern_bytes_left: usize,
    deepest: usize,
    cost: Steps,
    /// Weight and pointer of the most expensive keyword.
    most_expensive: (u64, String),
    position: Position<'a>,
    followed: Vec<FollowedReference<'a>>,
    steps: Vec<Step<'a>>,
    recursions: Recursions<'a>,
}

impl<'a> Walk<'a> {
    fn from(root: &'a Value, start: &'a str) -> Result<Self, String> {
        let mut walk = Self {
            root,
            draft: Draft::of(root)?,
            left: PARTS_MAX,
            pattern_bytes_left: PATTERN_BYTES_MAX,
            deepest: 0,
            cost: Steps::default(),
            most_expensive: (0, String::new()),
            position: Position::default(),
            followed: Vec::new(),
            steps: Vec::new(),
            recursions: Recursions::default(),
        };
        // On an error, the position is the place of the error.
        walk.follow(start, 0).map_err(|problem| format!("{}: {problem}", walk.position))?;
        Ok(walk)
    }

    fn take(&mut self, parts: usize) -> Result<(), String> {
        let more = || format!("the schema has more than {PARTS_MAX} parts, with references followed");
        self.left = self.left.checked_sub(parts).ok_or_else(more)?;
        self.add(prices::of_parts(parts));
        Ok(())
    }

    fn add(&mut self, steps: Steps) {
        let deep = if self.steps.contains(&Step::Any) { steps.parts } else { 0 };
        self.cost = self.cost.plus(Steps { deep, ..steps });
    }

    fn visit(&mut self, schema: &'a Value, depth: usize) -> Result<(), String> {
        self.take(1)?;
        self.deepest = self.deepest.max(depth);
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            // A list of required names in `dependencies`.
            Value::Array(names) => return self.take(names.len()),
            _ => return Ok(()),
        };
        if depth > DEPTH_MAX {
            return Err(format!("the schema is nested more than {DEPTH_MAX} levels deep"));
        }
        keywords.iter().try_for_each(|(keyword, value)| self.walk_keyword(keyword, value, depth))
    }

    fn walk_keyword(&mut self, keyword: &'a str, value: &'a Value, depth: usize) -> Result<(), String> {
        self.position.enter(keyword);
        self.draft.check(keyword, value, depth > 1)?;
        let before = self.cost;
        let traits = KeywordTraits::of(keyword);
        self.add(prices::of_keyword(keyword, value, self.draft));
        self.price_patterns(keyword, value)?;
        if traits.is_deeper {
            self.steps.push(Step::Any);
        }
        self.walk_parts(keyword, value, depth)?;
        if traits.is_deeper {
            self.steps.pop();
        }
        if traits.is_reported {
            self.weigh(before);
        }
        self.position.leave();
        Ok(())
    }

    fn weigh(&mut self, before: Steps) {
        let weight = self.cost.weight().saturating_sub(before.weight());
        if weight > self.most_expensive.0 {
            self.most_expensive = (weight, self.position.to_string());
        }
    }

    fn walk_parts(&mut self, keyword: &'a str, value: &'a Value, depth: usize) -> Result<(), String> {
        match (keyword, value) {
            // The value is data. Each value in it may be compared.
            ("enum" | "const", _) => self.take(prices::measure_size(value)),
            ("default" | "examples", _) => self.take(1),
            ("$ref", Value::String(reference)) => self.follow(reference, depth),
            // Definitions count where a reference names them.
            ("$defs" | "definitions", Value::Object(_)) => self.walk_definitions(value, depth),
            ("properties", Value::Object(named)) => named.iter().try_for_each(|(name, schema)| {
                self.steps.push(Step::Named(name));
                self.walk_part(name, schema, depth)?;
                self.steps.pop();
                Ok(())
            }),
            ("patternProperties" | "dependentSchemas" | "dependencies", Value::Object(named)) => {
                named.iter().try_for_each(|(name, schema)| self.walk_part(name, schema, depth))
            }
            (_, Value::Array(schemas)) => schemas
                .iter()
                .enumerate()
                .try_for_each(|(index, schema)| self.walk_part(index.to_string(), schema, depth)),
            (_, schema) => self.visit(schema, depth + 1),
        }
    }

    fn walk_part(
        &mut self,
        name: impl Into<std::borrow::Cow<'a, str>>,
        schema: &'a Value,
        depth: usize,
    ) -> Result<(), String> {
        self.position.enter(name);
        self.visit(schema, depth + 1)?;
        self.position.leave();
        Ok(())
    }

    /// Counts definitions. Those without a reference are compiled too.
    fn walk_definitions(&mut self, named: &'a Value, depth: usize) -> Result<(), String> {
        let Value::Object(named) = named else { return Ok(()) };
        let recursions = std::mem::take(&mut self.recursions);
        named.iter().try_for_each(|(name, schema)| self.walk_part(name, schema, depth))?;
        let inside = std::mem::replace(&mut self.recursions, recursions);
        inside.targets().for_each(|target| self.recursions.add_target(target));
        Ok(())
    }

    fn price_patterns(&mut self, keyword: &str, value: &Value) -> Result<(), String> {
        match (keyword, value) {
            // A text is matched once.
            ("pattern", Value::String(pattern)) => self.price_pattern(pattern, 1),
            // A name is matched for its own schema, and again for `additionalProperties`.
            ("patternProperties", Value::Object(named)) => {
                named.keys().try_for_each(|pattern| self.price_pattern(pattern, 2))
            }
            _ => Ok(()),
        }
    }

    fn price_pattern(&mut self, pattern: &str, times: u64) -> Result<(), String> {
        let more =
            || format!("the schema has more than {PATTERN_BYTES_MAX} bytes of patterns, with references followed");
        self.pattern_bytes_left = self.pattern_bytes_left.checked_sub(pattern.len()).ok_or_else(more)?;
        let patterns::Price { states, compile } = patterns::Price::of(pattern);
        self.add(Steps { bytes: states * times, compile, ..Steps::default() });
        Ok(())
    }

    fn follow(&mut self, reference: &'a str, depth: usize) -> Result<(), String> {
        if let Some(same) = self.followed.iter().find(|followed| followed.reference == reference) {
            if same.steps == self.steps.len() {
                return Err(format!("$ref {reference:?} leads back to itself without descending into the input"));
            }
            self.recursions.add(reference, &self.steps);
            self.add(Steps { visits: 1, ..Steps::default() });
            return Ok(());
        }
        let unknown = || format!("$ref {reference:?} is not in the document; write it as \"#/$defs/NAME\"");
        let pointer = reference.strip_prefix('#').filter(|pointer| !pointer.contains('%')).ok_or_else(unknown)?;
        let root = self.root;
        let target = root.pointer(pointer).ok_or_else(unknown)?;
        self.followed.push(FollowedReference { reference, steps: self.steps.len() });
        let before = std::mem::replace(&mut self.position, Position::at(pointer));
        self.visit(target, depth + 1)?;
        self.position = before;
        self.followed.pop();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `length` definitions that each refer to the next `times` times.
    fn chain(length: usize, times: usize) -> Value {
        let definition = |index: usize| json!({"allOf": vec![json!({"$ref": format!("#/$defs/{index}")}); times]});
        let mut names: serde_json::Map<_, _> = (0..length).map(|i| (i.to_string(), definition(i + 1))).collect();
        names.insert(length.to_string(), json!(true));
        json!({"$ref": "#/$defs/0", "$defs": names})
    }

    /// The most ways that references add with a level.
    #[track_caller]
    fn ways(schema: &Value) -> Option<u64> {
        price(schema).unwrap().recursion.map(|recursion| recursion.first.max(recursion.further))
    }

    fn refusal(schema: &Value) -> String {
        price(schema).unwrap_err()
    }

    #[test]
    fn plain_and_recursive_schemas_are_distinguished() {
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

    /// Six definitions that refer to themselves in one way are reached in six ways at the first level only.
    #[test]
    fn recursive_definitions_side_by_side_are_not_multiplied() {
        let place = |number: usize| format!("#/$defs/{number}");
        let tree = |number: usize| json!({"properties": {"children": {"items": {"$ref": place(number)}}}});
        let of_api = |number: usize| json!({"properties": {"arguments": {"$ref": place(number)}}});
        let trees: serde_json::Map<_, _> = (0..6).map(|number| (number.to_string(), tree(number))).collect();
        let schema = json!({"allOf": (0..6).map(of_api).collect::<Vec<_>>(), "$defs": trees});
        let Recursion { first, further, .. } = price(&schema).unwrap().recursion.unwrap();
        assert_eq!((first, further), (6, 1));
    }

    #[test]
    fn schemas_that_cost_too_much_are_refused() {
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
    fn a_cycle_that_does_not_descend_is_refused() {
        let defs = json!({"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}});
        assert!(refusal(&json!({"$ref": "#/$defs/a", "$defs": defs})).contains("leads back to itself"));
        assert!(refusal(&json!({"anyOf": [{"$ref": "#"}]})).contains("leads back to itself"));
        // A property may have the name of a keyword.
        assert!(refusal(&json!({"dependencies": {"properties": {"$ref": "#"}}})).contains("leads back to itself"));
    }

    #[test]
    fn references_out_of_the_document_are_refused() {
        for reference in ["https://example.com/x", "other.json", "#/$defs/missing", "#anchor"] {
            assert!(price(&json!({"$ref": reference})).is_err(), "{reference}");
        }
        assert!(price(&json!({"$dynamicRef": "#x"})).is_err());
    }
}
