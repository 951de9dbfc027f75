//! Comparison of keywords for objects.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::kinds::Kinds;
use super::numbers::count;
use super::parts::{Part, Parts, implies_count};
use super::reason::{Reason, show_place};
use super::schemas::{Comparison, Member, REASONS_MAX};

/// The new schema of the properties with a name, or whose names match a pattern.
struct Property<'n, 'a> {
    name: &'n str,
    schema: &'a Value,
}

impl<'a> Comparison<'a> {
    pub(super) fn compare_object_keyword(&mut self, old: &[Part<'a>], member: Member<'a>, at: &str) -> Vec<Reason> {
        let Member { schema: new, keyword, value } = member;
        if !self.compute_kinds(old).meets(Kinds::OBJECT) {
            return Vec::new();
        }
        let holds = match (keyword, value) {
            ("properties", Value::Object(schemas)) => {
                return schemas
                    .iter()
                    .flat_map(|(name, schema)| self.compare_property(old, Property { name, schema }, at))
                    .collect();
            }
            ("required", Value::Array(names)) => return self.compare_required(old, names, at),
            ("additionalProperties", _) => return self.compare_unlisted(old, member, at),
            ("patternProperties", Value::Object(patterns)) => {
                let each = patterns.iter();
                return each
                    .flat_map(|(pattern, schema)| self.compare_matching(old, Property { name: pattern, schema }, at))
                    .collect();
            }
            ("minProperties", _) => {
                implies_count(old, new, keyword)
                    || count(new, keyword).is_some_and(|least| self.collect_required(old).len() as u64 >= least)
            }
            ("maxProperties", _) => implies_count(old, new, keyword),
            ("propertyNames", _) => old.iter().any(|part| self.has_same(*part, keyword, value)),
            ("dependentRequired", Value::Object(dependents)) => {
                let required = self.collect_required(old);
                self.has(old, keyword, value)
                    || dependents
                        .values()
                        .filter_map(Value::as_array)
                        .flatten()
                        .all(|name| name.as_str().is_some_and(|name| required.contains(name)))
            }
            _ => false,
        };
        if holds { Vec::new() } else { vec![Reason::keyword(at, keyword, value)] }
    }

    fn compare_property(&mut self, old: &[Part<'a>], property: Property<'_, 'a>, at: &str) -> Vec<Reason> {
        let Property { name, schema } = property;
        if !self.budget.spend_text(at) {
            return vec![Reason::TooLarge];
        }
        match self.find_property(old, name) {
            Some(parts) => self.descend(&parts, schema, &format!("{at}.{name}")),
            None => Vec::new(),
        }
    }

    fn descend(&mut self, parts: &[Part<'a>], schema: &'a Value, at: &str) -> Vec<Reason> {
        self.descents += 1;
        let reasons = self.accepts(parts, schema, at);
        self.descents -= 1;
        reasons
    }

    /// The schemas of a property of old objects. `None` when old objects cannot have the property.
    pub(super) fn find_property(&self, old: &[Part<'a>], name: &str) -> Option<Parts<'a>> {
        let schema = |part: &Part<'a>| match part.get("properties").and_then(|properties| properties.get(name)) {
            Some(schema) => Some(schema),
            // A pattern may match the name, so that nothing is known about the property.
            None if part.get("patternProperties").is_some() => None,
            None => part.get("additionalProperties"),
        };
        self.collect_parts(old.iter().filter_map(schema).collect())
    }

    /// Compares the properties that the new schema does not list.
    fn compare_unlisted(&mut self, old: &[Part<'a>], member: Member<'a>, at: &str) -> Vec<Reason> {
        let (new, schema) = (member.schema, member.value);
        let listed = |map: &'a Map<String, Value>| map.get("properties").and_then(Value::as_object);
        let known = listed(new);
        let names = self.collect_names(old.iter().filter_map(|part| listed(part.map)));
        let gone = names.into_iter().filter(|name| !known.is_some_and(|known| known.contains_key(*name)));
        let mut reasons: Vec<Reason> =
            gone.flat_map(|name| self.compare_property(old, Property { name, schema }, at)).collect();
        if !self.accept_the_rest(old, schema) {
            reasons.push(Reason::Unlisted { at: at.to_owned() });
        }
        reasons
    }

    /// Compares the properties that match a pattern of the new schema. Without the same pattern in the old schema, any
    /// old property may match.
    fn compare_matching(&mut self, old: &[Part<'a>], property: Property<'_, 'a>, at: &str) -> Vec<Reason> {
        let Property { name: pattern, schema } = property;
        let of_part = |part: &Part<'a>| part.get("patternProperties").and_then(|patterns| patterns.get(pattern));
        let same: Vec<&Value> = old.iter().filter_map(of_part).collect();
        if !same.is_empty() {
            let parts = self.collect_parts(same);
            return parts.map_or_else(Vec::new, |parts| self.descend(&parts, schema, &format!("{at}.{pattern}")));
        }
        let listed = |part: &Part<'a>| part.get("properties").and_then(Value::as_object);
        let names = self.collect_names(old.iter().filter_map(listed));
        let mut reasons: Vec<Reason> =
            names.into_iter().flat_map(|name| self.compare_property(old, Property { name, schema }, at)).collect();
        if !self.accept_the_rest(old, schema) {
            let text = format!("{} accepts less than before under names like `{pattern}`", show_place(at));
            reasons.push(Reason::Other(text));
        }
        reasons
    }

    /// Whether a schema accepts all values that old objects may have in unlisted properties.
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
                    let parts = self.collect_parts(vec![one]);
                    parts.is_none_or(|parts| self.descend(&parts, schema, "").is_empty())
                })
        })
    }

    /// The property names in several lists.
    fn collect_names(&self, lists: impl Iterator<Item = &'a Map<String, Value>>) -> BTreeSet<&'a String> {
        lists.filter(|names| self.budget.spend(names.len())).flat_map(Map::keys).collect()
    }

    /// The properties that all old objects have.
    fn collect_required(&self, old: &[Part<'a>]) -> BTreeSet<&'a str> {
        let lists = old.iter().filter_map(|part| part.get("required")).filter_map(Value::as_array);
        lists.filter(|names| self.budget.spend(names.len())).flatten().filter_map(Value::as_str).collect()
    }

    fn compare_required(&self, old: &[Part<'a>], names: &[Value], at: &str) -> Vec<Reason> {
        let required = self.collect_required(old);
        let names = names.iter().filter_map(Value::as_str).filter(|name| !required.contains(name)).take(REASONS_MAX);
        names.map(|name| Reason::Required { at: format!("{at}.{name}") }).collect()
    }
}
