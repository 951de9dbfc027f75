//! Whether a schema accepts all that another one accepts.
//!
//! The answer is yes only when that can be shown, keyword by keyword. A constraint of the new schema is shown to hold
//! when one of the schemas that an old value satisfies implies it; where the old schema has alternatives, in each of
//! them. What cannot be shown comes back as a reason.

use runner::InputSchema;
use serde_json::{Map, Value};

use super::kinds::Kinds;
use super::numbers::{implies_bound, number};
use super::parts::{OF_KIND, Part, Parts, has, implies_count, is_multiple_of, kinds, may_be_equal, values, values_of};
use super::same::{
    has_reference, is_plain, refers_to_definitions_alone, resolve, same, same_by_name, same_maps, same_values,
};

/// Comparisons of two schemas within one; each takes microseconds.
const STEPS_MAX: u32 = 5_000;
/// What asking a validator counts for.
const VALIDATOR_STEPS: u32 = 50;
/// Schemas within schemas; a document is at most 128 deep, and references add to that.
const DEPTH_MAX: u32 = 200;
/// Alternatives within alternatives that are looked at one by one.
const SPLITS_MAX: u32 = 3;
/// Alternatives of one schema that are looked at so, and schemas that hold at once.
const BRANCHES_MAX: usize = 64;
/// More reasons tell an author nothing new.
pub(super) const REASONS_MAX: usize = 20;
/// Of a value that is quoted.
const QUOTED_CHARACTERS_MAX: usize = 40;

/// That old values which satisfy these schemas satisfy a new one, and how far into values that was said.
struct Assumed {
    old: Vec<(usize, &'static str)>,
    new: usize,
    descents: u32,
}

pub struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    steps: u32,
    depth: u32,
    splits: u32,
    /// How far into values one is.
    pub(super) descents: u32,
    /// What is being shown about references, and how far into values that began.
    assumed: Vec<Assumed>,
    same_definitions: bool,
    /// Whether references mean what they say, and stand beside other keywords.
    is_plain: bool,
}

impl<'a> Comparison<'a> {
    pub fn new(old: &'a Value, new: &'a Value) -> Self {
        let same_definitions = ["$defs", "definitions"].iter().all(|name| match (old.get(name), new.get(name)) {
            (Some(Value::Object(old)), Some(definitions @ Value::Object(new))) => {
                same_by_name(old, new) && refers_to_definitions_alone(definitions)
            }
            (old, new) => old == new,
        });
        let is_plain = is_plain(old) && is_plain(new);
        Self { old, new, steps: 0, depth: 0, splits: 0, descents: 0, assumed: Vec::new(), same_definitions, is_plain }
    }

    /// Why the new schema may refuse what the old one accepts; empty when it cannot.
    pub fn refused(mut self) -> Vec<String> {
        if self.old == self.new || (self.same_definitions && self.is_plain && same(self.old, self.new)) {
            return Vec::new();
        }
        if !self.is_plain {
            return vec!["schemas of other drafts, and with parts that have an address, are not compared".to_owned()];
        }
        let (old, new) = (self.old, self.new);
        let mut reasons = self.parts(vec![old]).map_or_else(Vec::new, |old| self.accepts(&old, new, ""));
        reasons.truncate(REASONS_MAX);
        reasons
    }

    /// The schemas that hold when these do; nothing when they cannot all hold.
    pub(super) fn parts(&self, mut schemas: Vec<&'a Value>) -> Option<Parts<'a>> {
        let mut parts = Parts::new();
        while let Some(schema) = schemas.pop() {
            let map = match schema {
                Value::Bool(false) => return None,
                Value::Object(map) => map,
                _ => continue,
            };
            // Fewer of them show less, and nothing wrong.
            if parts.len() == BRANCHES_MAX || parts.iter().any(|part| std::ptr::eq(part.map, map)) {
                continue;
            }
            parts.push(Part { map, without: "" });
            schemas.extend(map.get("$ref").and_then(|reference| resolve(self.old, reference)));
            schemas.extend(map.get("allOf").and_then(Value::as_array).into_iter().flatten());
        }
        Some(parts)
    }

    pub(super) fn accepts(&mut self, old: &[Part<'a>], new: &'a Value, at: &str) -> Vec<String> {
        self.steps += 1;
        if self.steps > STEPS_MAX || self.depth == DEPTH_MAX {
            return vec!["the schemas are too large to be compared".to_owned()];
        }
        self.depth += 1;
        let reasons = self.accepts_within(old, new, at);
        self.depth -= 1;
        reasons
    }

    fn accepts_within(&mut self, old: &[Part<'a>], new: &'a Value, at: &str) -> Vec<String> {
        let map = match new {
            Value::Bool(true) => return Vec::new(),
            _ if kinds(old) == Kinds::NONE => return Vec::new(),
            Value::Object(map) => map,
            _ => return vec![format!("{} accepts nothing any more", named(at))],
        };
        if old.iter().any(|part| self.is_same(*part, new)) {
            return Vec::new();
        }
        if let Some(values) = old.iter().find_map(values) {
            return self.misfits(&values, new, at);
        }
        let reasons = self.keywords(old, map, at);
        if reasons.is_empty() || self.splits == SPLITS_MAX {
            return reasons;
        }
        self.splits += 1;
        let is_shown = self
            .alternatives(old)
            .into_iter()
            .any(|alternatives| alternatives.iter().all(|parts| self.accepts(parts, new, at).is_empty()));
        self.splits -= 1;
        if is_shown { Vec::new() } else { reasons }
    }

    /// Ways to see the old values as some of several alternatives.
    fn alternatives(&self, old: &[Part<'a>]) -> Vec<Vec<Parts<'a>>> {
        let mut found = Vec::new();
        for (index, part) in old.iter().enumerate() {
            for keyword in ["anyOf", "oneOf"] {
                let Some(branches) = part.get(keyword).and_then(Value::as_array) else { continue };
                if branches.len() > BRANCHES_MAX || !part.without.is_empty() {
                    continue;
                }
                let rest: Parts<'a> = old
                    .iter()
                    .copied()
                    .enumerate()
                    .map(|(other, part)| if other == index { Part { without: keyword, ..part } } else { part })
                    .collect();
                let of = |branch| self.parts(vec![branch]).map(|parts| [parts, rest.clone()].concat());
                found.push(branches.iter().filter_map(of).collect());
            }
        }
        let kinds = kinds(old);
        let names = OF_KIND.iter().filter(|(kind, _)| kind.is_within(kinds));
        // Whole numbers are among the numbers.
        let names = names.filter(|(kind, _)| {
            *kind == Kinds::NUMBER || !(kind.meets(Kinds::NUMBER) && Kinds::NUMBER.is_within(kinds))
        });
        let of_kinds: Vec<Parts<'a>> = names.map(|(_, map)| [&[Part { map, without: "" }][..], old].concat()).collect();
        if of_kinds.len() > 1 {
            found.push(of_kinds);
        }
        found
    }

    fn keywords(&mut self, old: &[Part<'a>], new: &'a Map<String, Value>, at: &str) -> Vec<String> {
        let mut reasons = Vec::new();
        for (keyword, value) in new {
            if reasons.len() >= REASONS_MAX {
                break;
            }
            reasons.extend(self.keyword(old, new, (keyword, value), at));
        }
        reasons
    }

    fn keyword(
        &mut self,
        old: &[Part<'a>],
        new: &'a Map<String, Value>,
        (keyword, value): (&'a str, &'a Value),
        at: &str,
    ) -> Vec<String> {
        let holds = match keyword {
            "$ref" => return self.reference(old, value, at),
            "allOf" => {
                let all = value.as_array().into_iter().flatten();
                return all.flat_map(|one| self.accepts(old, one, at)).collect();
            }
            "anyOf" => branches(value).iter().any(|branch| self.accepts(old, branch, at).is_empty()),
            "oneOf" => self.is_one_of(old, branches(value), at),
            "not" => self.is_apart(old, value),
            "type" => kinds(old).is_within(Kinds::of_type(value)),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                !kinds(old).meets(Kinds::NUMBER)
                    || number(new, keyword)
                        .is_some_and(|bound| old.iter().any(|part| implies_bound(part.map, keyword, bound)))
            }
            "multipleOf" => !kinds(old).meets(Kinds::NUMBER) || is_multiple_of(old, new),
            "minLength" | "maxLength" => !kinds(old).meets(Kinds::STRING) || implies_count(old, new, keyword),
            "pattern" | "format" => !kinds(old).meets(Kinds::STRING) || has(old, keyword, value),
            "prefixItems" | "items" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
            | "maxContains" => {
                return self.array(old, new, (keyword, value), at);
            }
            "properties"
            | "required"
            | "additionalProperties"
            | "patternProperties"
            | "minProperties"
            | "maxProperties"
            | "propertyNames"
            | "dependentRequired" => {
                return self.object(old, new, (keyword, value), at);
            }
            "if" => old.iter().any(|part| {
                ["if", "then", "else"].iter().all(|keyword| match new.get(*keyword) {
                    Some(value) => self.has_same(*part, keyword, value),
                    None => true,
                })
            }),
            // Only whole schemas are compared where these are.
            "unevaluatedProperties"
            | "unevaluatedItems"
            | "dependentSchemas"
            | "dependencies"
            | "additionalItems"
            | "$dynamicRef"
            | "$recursiveRef"
            | "enum"
            | "const" => false,
            // Annotations, what belongs to another keyword, and what no reader knows.
            _ => true,
        };
        if holds { Vec::new() } else { vec![narrower(at, keyword, value)] }
    }

    fn reference(&mut self, old: &[Part<'a>], reference: &'a Value, at: &str) -> Vec<String> {
        let Some(target) = resolve(self.new, reference) else {
            return vec![format!("{} refers to {reference}, which cannot be compared", named(at))];
        };
        let places: Vec<_> = old.iter().map(Part::place).collect();
        let target_place = std::ptr::from_ref(target).addr();
        let begun = self.assumed.iter().find(|one| one.old == places && one.new == target_place);
        match begun {
            // It is being shown for the whole, and holds for a value within it.
            Some(one) if one.descents < self.descents => return Vec::new(),
            Some(_) => return vec![format!("{} refers to itself", named(at))],
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
                && others.map(|(_, branch)| branch).all(|branch| self.is_apart(old, branch))
        })
    }

    /// Whether no old value satisfies a schema of the new document: by kind, or by a property that tells them apart.
    fn is_apart(&self, old: &[Part<'a>], new: &'a Value) -> bool {
        let new = new.get("$ref").and_then(|reference| resolve(self.new, reference)).unwrap_or(new);
        if !kinds(old).meets(Kinds::of(new)) {
            return true;
        }
        let (Some(required), Some(properties)) = (new.get("required"), new.get("properties")) else { return false };
        let names = required.as_array().into_iter().flatten().filter_map(Value::as_str);
        kinds(old).is_within(Kinds::OBJECT)
            && names.filter_map(|name| Some((name, values_of(properties.get(name)?.as_object()?)?))).any(
                |(name, wanted)| {
                    let has = self.property(old, name).and_then(|parts| parts.iter().find_map(values));
                    has.is_some_and(|has| {
                        !has.iter().any(|value| wanted.iter().any(|wanted| may_be_equal(value, wanted)))
                    })
                },
            )
    }

    /// Those of some values that the schema refuses.
    fn misfits(&mut self, values: &[&Value], new: &Value, at: &str) -> Vec<String> {
        self.steps += VALIDATOR_STEPS;
        let mut document = new.clone();
        if let (Value::Object(document), Value::Object(root)) = (&mut document, self.new) {
            for name in ["$defs", "definitions"] {
                root.get(name).map(|definitions| document.insert(name.to_owned(), definitions.clone()));
            }
        }
        let schema = InputSchema::compile(&document).ok().filter(|_| refers_to_definitions_alone(&document));
        let misfits = values.iter().filter(|value| !schema.as_ref().is_some_and(|schema| schema.accepts(value)));
        misfits.map(|value| format!("{} no longer accepts {}", named(at), quoted(value))).take(REASONS_MAX).collect()
    }

    fn is_same(&self, part: Part<'a>, new: &Value) -> bool {
        let Value::Object(map) = new else { return false };
        part.without.is_empty() && same_maps(part.map, map) && self.refers_alike(new)
    }

    /// Whether a part has the keyword with the same value.
    pub(super) fn has_same(&self, part: Part<'a>, keyword: &str, value: &Value) -> bool {
        part.get(keyword).is_some_and(|old| same_values(keyword, old, value)) && self.refers_alike(value)
    }

    /// Whether the same words mean the same in both documents.
    fn refers_alike(&self, value: &Value) -> bool {
        !has_reference(value) || (self.same_definitions && refers_to_definitions_alone(value))
    }
}

pub(super) fn named(at: &str) -> String {
    if at.is_empty() { "the input".to_owned() } else { format!("`{}`", at.trim_start_matches('.')) }
}

pub(super) fn narrower(at: &str, keyword: &str, value: &Value) -> String {
    format!("{} accepts less than before: `{keyword}` {}", named(at), quoted(value))
}

fn quoted(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn branches(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |branches| if branches.len() > BRANCHES_MAX { &[] } else { branches })
}
