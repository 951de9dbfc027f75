//! Keywords about objects.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::kinds::Kinds;
use super::numbers::count;
use super::parts::{Part, Parts, has, implies_count, kinds};
use super::schemas::{Comparison, named, narrower};

impl<'a> Comparison<'a> {
    pub(super) fn object(
        &mut self,
        old: &[Part<'a>],
        new: &'a Map<String, Value>,
        (keyword, value): (&'a str, &'a Value),
        at: &str,
    ) -> Vec<String> {
        if !kinds(old).meets(Kinds::OBJECT) {
            return Vec::new();
        }
        let holds = match (keyword, value) {
            ("properties", Value::Object(schemas)) => {
                return schemas.iter().flat_map(|(name, schema)| self.one(old, name, schema, at)).collect();
            }
            ("required", Value::Array(names)) => return missing(old, names, at),
            ("additionalProperties", _) => return self.others(old, new, value, at),
            ("patternProperties", Value::Object(patterns)) => {
                let each = patterns.iter();
                return each.flat_map(|(pattern, schema)| self.matching(old, pattern, schema, at)).collect();
            }
            ("minProperties", _) => {
                implies_count(old, new, keyword)
                    || count(new, keyword).is_some_and(|least| required(old).len() as u64 >= least)
            }
            ("maxProperties", _) => implies_count(old, new, keyword),
            ("propertyNames", _) => old.iter().any(|part| self.has_same(*part, keyword, value)),
            ("dependentRequired", Value::Object(dependents)) => {
                let required = required(old);
                has(old, keyword, value)
                    || dependents
                        .values()
                        .filter_map(Value::as_array)
                        .flatten()
                        .all(|name| name.as_str().is_some_and(|name| required.contains(name)))
            }
            _ => false,
        };
        if holds { Vec::new() } else { vec![narrower(at, keyword, value)] }
    }

    fn one(&mut self, old: &[Part<'a>], name: &str, schema: &'a Value, at: &str) -> Vec<String> {
        match self.property(old, name) {
            Some(parts) => self.within(&parts, schema, &format!("{at}.{name}")),
            None => Vec::new(),
        }
    }

    fn within(&mut self, parts: &[Part<'a>], schema: &'a Value, at: &str) -> Vec<String> {
        self.descents += 1;
        let reasons = self.accepts(parts, schema, at);
        self.descents -= 1;
        reasons
    }

    /// What old objects have under a name; nothing when they cannot have it.
    pub(super) fn property(&self, old: &[Part<'a>], name: &str) -> Option<Parts<'a>> {
        let schema = |part: &Part<'a>| match part.get("properties").and_then(|properties| properties.get(name)) {
            Some(schema) => Some(schema),
            // A pattern may take the name, so that nothing is known.
            None if part.get("patternProperties").is_some() => None,
            None => part.get("additionalProperties"),
        };
        self.parts(old.iter().filter_map(schema).collect())
    }

    /// Names that the new schema does not list.
    fn others(&mut self, old: &[Part<'a>], new: &'a Map<String, Value>, schema: &'a Value, at: &str) -> Vec<String> {
        let listed = |map: &'a Map<String, Value>| map.get("properties").and_then(Value::as_object);
        let known = listed(new);
        let names: BTreeSet<&String> = old.iter().filter_map(|part| listed(part.map)).flat_map(Map::keys).collect();
        let gone = names.into_iter().filter(|name| !known.is_some_and(|known| known.contains_key(*name)));
        let mut reasons: Vec<String> = gone.flat_map(|name| self.one(old, name, schema, at)).collect();
        if !self.accept_the_rest(old, schema) {
            reasons.push(format!("{} no longer accepts properties that the schema does not list", named(at)));
        }
        reasons
    }

    /// Names that match a pattern of the new schema: whatever old objects may have.
    fn matching(&mut self, old: &[Part<'a>], pattern: &str, schema: &'a Value, at: &str) -> Vec<String> {
        let of_part = |part: &Part<'a>| part.get("patternProperties").and_then(|patterns| patterns.get(pattern));
        let same: Vec<&Value> = old.iter().filter_map(of_part).collect();
        if !same.is_empty() {
            let parts = self.parts(same);
            return parts.map_or_else(Vec::new, |parts| self.within(&parts, schema, &format!("{at}.{pattern}")));
        }
        let listed = |part: &Part<'a>| part.get("properties").and_then(Value::as_object);
        let names: BTreeSet<&String> = old.iter().filter_map(listed).flat_map(Map::keys).collect();
        let mut reasons: Vec<String> = names.into_iter().flat_map(|name| self.one(old, name, schema, at)).collect();
        if !self.accept_the_rest(old, schema) {
            reasons.push(format!("{} accepts less than before under names like `{pattern}`", named(at)));
        }
        reasons
    }

    /// Whether a schema takes what old objects may have under names that none of their schemas lists.
    fn accept_the_rest(&mut self, old: &[Part<'a>], schema: &'a Value) -> bool {
        if schema == &Value::Bool(true) {
            return true;
        }
        old.iter().any(|part| {
            let patterns = part.get("patternProperties").and_then(Value::as_object);
            let additional = part.get("additionalProperties");
            let all = patterns.into_iter().flat_map(Map::values).chain(additional);
            additional.is_some()
                && all.collect::<Vec<_>>().into_iter().all(|one| {
                    let parts = self.parts(vec![one]);
                    parts.is_none_or(|parts| self.within(&parts, schema, "").is_empty())
                })
        })
    }
}

/// The names that old objects have for certain.
fn required<'a>(old: &[Part<'a>]) -> BTreeSet<&'a str> {
    let lists = old.iter().filter_map(|part| part.get("required")).filter_map(Value::as_array);
    lists.flatten().filter_map(Value::as_str).collect()
}

fn missing(old: &[Part<'_>], names: &[Value], at: &str) -> Vec<String> {
    let required = required(old);
    let names = names.iter().filter_map(Value::as_str).filter(|name| !required.contains(name));
    names.map(|name| format!("`{}` is required now", format!("{at}.{name}").trim_start_matches('.'))).collect()
}
