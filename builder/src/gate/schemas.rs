//! Whether a schema accepts every value that another one accepts.
//!
//! The answer is yes only if that can be shown for each keyword. A constraint of the new schema holds if one of the
//! schemas that old values satisfy implies it; if the old schema has alternatives, each of them must imply it.
//! Constraints that cannot be shown to hold are returned as reasons.
//!
//! A schema is identified by its address, which is its place in a document: both documents are borrowed unchanged. Comparing
//! by value would examine whole schemas at each step. The cache of kinds pays: without it, sixty lists of 250 values took 24
//! times as long (363 ms instead of 15, debug build), and other large schemas three times.

use std::cell::RefCell;
use std::collections::HashMap;

use runner::InputSchema;
use serde_json::{Map, Value};

use super::budget::Budget;
use super::kinds::Kinds;
use super::numbers::{find_number, implies_bound};
use super::parts::{OF_KIND, Part, Parts, implies_count, is_multiple_of, list_values, list_values_of, may_be_equal};
use super::quoted::quote;
use super::reason::{Reason, show_place};
use super::same::{
    are_equal, has_reference, has_same_value, is_plain, is_same, is_same_by_name, is_same_map,
    refers_to_definitions_alone, resolve,
};

/// Comparisons of two subschemas within one comparison. Each takes microseconds.
const STEPS_MAX: u32 = 5_000;
/// Steps that a call of the validator counts as.
const VALIDATOR_STEPS: u32 = 50;
/// Values of the budget that compiling and matching a schema costs.
const VALIDATOR_VALUES: u64 = 100_000;
/// Levels of nested schemas. A document has at most 128, and references add to that.
const DEPTH_MAX: u32 = 200;
/// Levels of nested alternatives that are compared one by one.
const SPLITS_MAX: u32 = 3;
/// Alternatives of one schema that are compared one by one, and schemas that apply together.
const BRANCHES_MAX: usize = 64;
/// Reasons that are returned. Further ones tell an author nothing new.
pub(super) const REASONS_MAX: usize = 20;

/// The assumption that old values which satisfy these schemas satisfy a new one, and the depth in the value at which it
/// was made.
struct Assumed {
    old: Vec<(usize, &'static str)>,
    new: usize,
    descents: u32,
}

/// A keyword of a new schema, with its value.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub schema: &'a Map<String, Value>,
    pub keyword: &'a str,
    pub value: &'a Value,
}

pub struct Comparison<'a> {
    pub(super) budget: Budget,
    /// The kinds of schemas that were examined, by address.
    kinds: RefCell<HashMap<usize, Kinds>>,
    old: &'a Value,
    new: &'a Value,
    steps: u32,
    depth: u32,
    splits: u32,
    /// The current depth in the value.
    pub(super) descents: u32,
    /// The assumptions about references whose proof is in progress.
    assumed: Vec<Assumed>,
    same_definitions: bool,
    /// Whether both documents are plain: references have no other base, and stand beside other keywords.
    is_plain: bool,
}

impl<'a> Comparison<'a> {
    pub fn new(old: &'a Value, new: &'a Value) -> Self {
        let budget = Budget::new();
        let same_definitions = ["$defs", "definitions"].iter().all(|name| match (old.get(name), new.get(name)) {
            (Some(Value::Object(old)), Some(definitions @ Value::Object(new))) => {
                is_same_by_name(old, new, &budget) && refers_to_definitions_alone(definitions, &budget)
            }
            (old, new) => old == new,
        });
        let is_plain = is_plain(old) && is_plain(new);
        Self {
            budget,
            kinds: RefCell::default(),
            old,
            new,
            steps: 0,
            depth: 0,
            splits: 0,
            descents: 0,
            assumed: Vec::new(),
            same_definitions,
            is_plain,
        }
    }

    /// The reasons why the new schema may refuse values that the old one accepts. Empty when it accepts all of them.
    pub fn find_refused(mut self) -> Vec<Reason> {
        if self.old == self.new || (self.same_definitions && self.is_plain && is_same(self.old, self.new, &self.budget))
        {
            return Vec::new();
        }
        if !self.is_plain {
            return vec![Reason::Other(
                "schemas of other drafts, and with parts that have an address, are not compared".to_owned(),
            )];
        }
        let (old, new) = (self.old, self.new);
        let mut reasons = self.collect_parts(vec![old]).map_or_else(Vec::new, |old| self.accepts(&old, new, ""));
        reasons.truncate(REASONS_MAX);
        reasons
    }

    /// The schemas that apply together with the given ones. `None` if one of them refuses every value.
    pub(super) fn collect_parts(&self, mut schemas: Vec<&'a Value>) -> Option<Parts<'a>> {
        let mut parts = Parts::new();
        while let Some(schema) = schemas.pop() {
            let map = match schema {
                Value::Bool(false) => return None,
                Value::Object(map) => map,
                _ => continue,
            };
            // Leaving schemas out can only hide compatibility.
            if !self.budget.spend(1 + parts.len())
                || parts.len() == BRANCHES_MAX
                || parts.iter().any(|part| std::ptr::eq(part.map, map))
            {
                continue;
            }
            parts.push(Part { map, without: "" });
            schemas.extend(map.get("$ref").and_then(|reference| resolve(self.old, reference)));
            schemas.extend(map.get("allOf").and_then(Value::as_array).into_iter().flatten());
        }
        Some(parts)
    }

    pub(super) fn accepts(&mut self, old: &[Part<'a>], new: &'a Value, at: &str) -> Vec<Reason> {
        self.steps += 1;
        if self.steps > STEPS_MAX || self.depth == DEPTH_MAX || !self.budget.spend(1) {
            return vec![Reason::TooLarge];
        }
        self.depth += 1;
        let reasons = self.accepts_within(old, new, at);
        self.depth -= 1;
        reasons
    }

    fn accepts_within(&mut self, old: &[Part<'a>], new: &'a Value, at: &str) -> Vec<Reason> {
        let map = match new {
            Value::Bool(true) => return Vec::new(),
            _ if self.compute_kinds(old) == Kinds::NONE => return Vec::new(),
            Value::Object(map) => map,
            _ => return vec![Reason::Nothing { at: at.to_owned() }],
        };
        if old.iter().any(|part| self.is_same(*part, new)) {
            return Vec::new();
        }
        if let Some(values) = old.iter().find_map(list_values) {
            return self.find_refused_values(&values, new, at);
        }
        let reasons = self.compare_keywords(old, map, at);
        if reasons.is_empty() || self.splits == SPLITS_MAX {
            return reasons;
        }
        self.splits += 1;
        let is_shown = self
            .list_alternatives(old)
            .into_iter()
            .any(|alternatives| alternatives.iter().all(|parts| self.accepts(parts, new, at).is_empty()));
        self.splits -= 1;
        if is_shown { Vec::new() } else { reasons }
    }

    /// Ways to split the old values into alternatives.
    fn list_alternatives(&self, old: &[Part<'a>]) -> Vec<Vec<Parts<'a>>> {
        let mut found = Vec::new();
        for (index, part) in old.iter().enumerate() {
            for keyword in ["anyOf", "oneOf"] {
                let Some(branches) = part.get(keyword).and_then(Value::as_array) else { continue };
                let copies = old.len().saturating_mul(branches.len());
                if branches.len() > BRANCHES_MAX || !part.without.is_empty() || !self.budget.spend(copies) {
                    continue;
                }
                let rest: Parts<'a> = old
                    .iter()
                    .copied()
                    .enumerate()
                    .map(|(other, part)| if other == index { Part { without: keyword, ..part } } else { part })
                    .collect();
                let of = |branch| self.collect_parts(vec![branch]).map(|parts| [parts, rest.clone()].concat());
                found.push(branches.iter().filter_map(of).collect());
            }
        }
        let kinds = self.compute_kinds(old);
        let names = OF_KIND.iter().filter(|(kind, _)| kind.is_within(kinds));
        // The kind of numbers contains the integers.
        let names = names.filter(|(kind, _)| {
            *kind == Kinds::NUMBER || !(kind.meets(Kinds::NUMBER) && Kinds::NUMBER.is_within(kinds))
        });
        let of_kinds: Vec<Parts<'a>> = names.map(|(_, map)| [&[Part { map, without: "" }][..], old].concat()).collect();
        if of_kinds.len() > 1 {
            found.push(of_kinds);
        }
        found
    }

    fn compare_keywords(&mut self, old: &[Part<'a>], new: &'a Map<String, Value>, at: &str) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (keyword, value) in new {
            if reasons.len() >= REASONS_MAX {
                break;
            }
            if !self.budget.spend(1 + old.len()) {
                return vec![Reason::TooLarge];
            }
            reasons.extend(self.compare_keyword(old, Member { schema: new, keyword, value }, at));
        }
        reasons
    }

    fn compare_keyword(&mut self, old: &[Part<'a>], member: Member<'a>, at: &str) -> Vec<Reason> {
        let Member { schema: new, keyword, value } = member;
        let holds = match keyword {
            "$ref" => return self.compare_reference(old, value, at),
            "allOf" => {
                let all = value.as_array().into_iter().flatten();
                return all.flat_map(|one| self.accepts(old, one, at)).collect();
            }
            "anyOf" => list_branches(value).iter().any(|branch| self.accepts(old, branch, at).is_empty()),
            "oneOf" => self.is_one_of(old, list_branches(value), at),
            "not" => self.is_disjoint(old, value),
            "type" => self.compute_kinds(old).is_within(Kinds::of_type(value)),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                !self.compute_kinds(old).meets(Kinds::NUMBER)
                    || find_number(new, keyword)
                        .is_some_and(|bound| old.iter().any(|part| implies_bound(part.map, keyword, bound)))
            }
            "multipleOf" => !self.compute_kinds(old).meets(Kinds::NUMBER) || is_multiple_of(old, new),
            "minLength" | "maxLength" => {
                !self.compute_kinds(old).meets(Kinds::STRING) || implies_count(old, new, keyword)
            }
            "pattern" | "format" => !self.compute_kinds(old).meets(Kinds::STRING) || self.has(old, keyword, value),
            "prefixItems" | "items" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
            | "maxContains" => {
                return self.compare_array_keyword(old, member, at);
            }
            "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "minProperties"
            | "maxProperties"
            | "propertyNames"
            | "dependentRequired" => {
                return self.compare_object_keyword(old, member, at);
            }
            "if" => old.iter().any(|part| {
                ["if", "then", "else"].iter().all(|keyword| match new.get(*keyword) {
                    Some(value) => self.has_same(*part, keyword, value),
                    None => true,
                })
            }),
            // Schemas with these keywords are compatible only if they are equal.
            "unevaluatedProperties"
            | "unevaluatedItems"
            | "dependentSchemas"
            | "dependencies"
            | "additionalItems"
            | "$dynamicRef"
            | "$recursiveRef"
            | "enum"
            | "const" => false,
            // Annotations, keywords that belong to another keyword, and unknown keywords.
            _ => true,
        };
        if holds { Vec::new() } else { vec![Reason::keyword(at, keyword, value)] }
    }

    fn compare_reference(&mut self, old: &[Part<'a>], reference: &'a Value, at: &str) -> Vec<Reason> {
        let Some(target) = resolve(self.new, reference) else {
            return vec![Reason::Other(format!("{} refers to {reference}, which cannot be compared", show_place(at)))];
        };
        let places: Vec<_> = old.iter().map(Part::place).collect();
        let target_place = std::ptr::from_ref(target).addr();
        let begun = self.assumed.iter().find(|one| one.old == places && one.new == target_place);
        match begun {
            // The proof for the whole value is in progress, and covers a value within it.
            Some(one) if one.descents < self.descents => return Vec::new(),
            Some(_) => return vec![Reason::Other(format!("{} refers to itself", show_place(at)))],
            None => {}
        }
        self.assumed.push(Assumed { old: places, new: target_place, descents: self.descents });
        let reasons = self.accepts(old, target, at);
        self.assumed.pop();
        reasons
    }

    fn is_one_of(&mut self, old: &[Part<'a>], branches: &'a [Value], at: &str) -> bool {
        (0..branches.len()).any(|index| {
            let others = branches.iter().enumerate().filter(|(other, _)| *other != index);
            self.accepts(old, &branches[index], at).is_empty()
                && others.map(|(_, branch)| branch).all(|branch| self.is_disjoint(old, branch))
        })
    }

    /// Whether no old value satisfies a schema of the new document, because of its kind or of a property that differs.
    fn is_disjoint(&self, old: &[Part<'a>], new: &'a Value) -> bool {
        let new = new.get("$ref").and_then(|reference| resolve(self.new, reference)).unwrap_or(new);
        if !self.compute_kinds(old).meets(self.compute_kinds_of(new)) {
            return true;
        }
        let (Some(required), Some(properties)) = (new.get("required"), new.get("properties")) else { return false };
        let names = required.as_array().into_iter().flatten().filter_map(Value::as_str);
        self.compute_kinds(old).is_within(Kinds::OBJECT)
            && names.filter_map(|name| Some((name, list_values_of(properties.get(name)?.as_object()?)?))).any(
                |(name, wanted)| {
                    let has = self.find_property(old, name).and_then(|parts| parts.iter().find_map(list_values));
                    has.is_some_and(|has| {
                        self.budget.spend(has.len().saturating_mul(wanted.len()))
                            && !has.iter().any(|value| wanted.iter().any(|wanted| may_be_equal(value, wanted)))
                    })
                },
            )
    }

    /// A reason for each of the old schema's listed values that the new schema refuses.
    fn find_refused_values(&mut self, values: &[&Value], new: &Value, at: &str) -> Vec<Reason> {
        self.steps += VALIDATOR_STEPS;
        let mut document = new.clone();
        if let (Value::Object(document), Value::Object(root)) = (&mut document, self.new) {
            for name in ["$defs", "definitions"] {
                root.get(name).map(|definitions| document.insert(name.to_owned(), definitions.clone()));
            }
        }
        if !self.budget.spend_steps(VALIDATOR_VALUES) {
            return vec![Reason::TooLarge];
        }
        let schema = InputSchema::compile(&document).ok();
        let schema = schema.filter(|_| refers_to_definitions_alone(&document, &self.budget));
        let accepts = |value: &Value| {
            let schema = schema.as_ref()?;
            self.budget.spend_steps(schema.price(value).steps).then_some(())?;
            schema.accepts(value, u64::MAX)
        };
        let refused = values.iter().filter(|value| accepts(value) != Some(true)).take(REASONS_MAX);
        refused.map(|value| Reason::Value { at: at.to_owned(), value: quote(value) }).collect()
    }

    /// The kinds of values that satisfy all parts.
    pub(super) fn compute_kinds(&self, parts: &[Part<'a>]) -> Kinds {
        parts.iter().map(|part| self.compute_kinds_of_map(part.map)).fold(Kinds::ALL, Kinds::and)
    }

    fn compute_kinds_of(&self, schema: &Value) -> Kinds {
        match schema {
            Value::Object(map) => self.compute_kinds_of_map(map),
            other => Kinds::of(other),
        }
    }

    fn compute_kinds_of_map(&self, map: &Map<String, Value>) -> Kinds {
        let place = std::ptr::from_ref(map).addr();
        *self.kinds.borrow_mut().entry(place).or_insert_with(|| Kinds::of_map(map))
    }

    /// Whether a part has the keyword with an equal value.
    pub(super) fn has(&self, old: &[Part<'a>], keyword: &str, value: &Value) -> bool {
        old.iter().filter_map(|part| part.get(keyword)).any(|had| are_equal(had, value, &self.budget))
    }

    fn is_same(&self, part: Part<'a>, new: &Value) -> bool {
        let Value::Object(map) = new else { return false };
        part.without.is_empty() && is_same_map(part.map, map, &self.budget) && self.refers_alike(new)
    }

    /// Whether a part has the keyword with an equivalent value.
    pub(super) fn has_same(&self, part: Part<'a>, keyword: &str, value: &Value) -> bool {
        part.get(keyword).is_some_and(|old| has_same_value(keyword, old, value, &self.budget))
            && self.refers_alike(value)
    }

    /// Whether the references in a value point to the same schemas in both documents.
    fn refers_alike(&self, value: &Value) -> bool {
        !has_reference(value, &self.budget)
            || (self.same_definitions && refers_to_definitions_alone(value, &self.budget))
    }
}

fn list_branches(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |branches| if branches.len() > BRANCHES_MAX { &[] } else { branches })
}
