//! Comparison of keywords for arrays.

use serde_json::{Map, Value};

use super::kinds::Kinds;
use super::numbers::count;
use super::parts::{Part, Parts, implies_count};
use super::reason::Reason;
use super::schemas::{Comparison, Member};

/// The new schema of the element at an index.
struct Element<'a> {
    index: usize,
    schema: &'a Value,
}

impl<'a> Comparison<'a> {
    pub(super) fn compare_array_keyword(&mut self, old: &[Part<'a>], member: Member<'a>, at: &str) -> Vec<Reason> {
        let Member { schema: new, keyword, value } = member;
        if !self.compute_kinds(old).meets(Kinds::ARRAY) {
            return Vec::new();
        }
        let holds = match (keyword, value) {
            ("prefixItems", Value::Array(schemas)) => {
                let each = schemas.iter().enumerate();
                return each
                    .flat_map(|(index, schema)| self.compare_element(old, Element { index, schema }, at))
                    .collect();
            }
            ("items", Value::Object(_) | Value::Bool(_)) => return self.compare_elements(old, member, at),
            ("minItems" | "maxItems", _) => implies_count(old, new, keyword),
            ("uniqueItems", Value::Bool(is_unique)) => {
                !is_unique
                    || old.iter().any(|part| part.get("uniqueItems") == Some(value))
                    || old.iter().filter_map(|part| count(part.map, "maxItems")).any(|most| most <= 1)
            }
            ("contains", _) => old.iter().any(|part| {
                self.has_same(*part, "contains", value)
                    && ["minContains", "maxContains"].iter().all(|keyword| part.get(keyword) == new.get(*keyword))
            }),
            // Without `contains` they have no effect.
            ("minContains" | "maxContains", _) => true,
            _ => false,
        };
        if holds { Vec::new() } else { vec![Reason::keyword(at, keyword, value)] }
    }

    /// Compares the elements that follow the `prefixItems` of the new schema.
    fn compare_elements(&mut self, old: &[Part<'a>], member: Member<'a>, at: &str) -> Vec<Reason> {
        let prefix = |map: &Map<String, Value>| map.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        let (first, last) = (prefix(member.schema), old.iter().map(|part| prefix(part.map)).max().unwrap_or(0));
        let each = first..=last.max(first);
        if !self.budget.spend(old.len()) {
            return vec![Reason::TooLarge];
        }
        // The last index represents all that follow.
        each.flat_map(|index| self.compare_element(old, Element { index, schema: member.value }, at)).collect()
    }

    fn compare_element(&mut self, old: &[Part<'a>], element: Element<'a>, at: &str) -> Vec<Reason> {
        let Element { index, schema } = element;
        let ends_before = |most: u64| most <= index as u64;
        if old.iter().filter_map(|part| count(part.map, "maxItems")).any(ends_before) {
            return Vec::new();
        }
        let Some(parts) = self.find_old_element(old, index) else { return Vec::new() };
        self.descents += 1;
        let reasons = self.accepts(&parts, schema, &format!("{at}[]"));
        self.descents -= 1;
        reasons
    }

    /// The schemas of the element at an index of old arrays. `None` when old arrays are shorter.
    fn find_old_element(&self, old: &[Part<'a>], index: usize) -> Option<Parts<'a>> {
        let schema = |part: &Part<'a>| {
            let prefix = part.get("prefixItems").and_then(Value::as_array);
            // A list of schemas is a prefix in earlier drafts, and is ignored here.
            let items = part.get("items").filter(|items| !items.is_array());
            prefix.and_then(|prefix| prefix.get(index)).or(items)
        };
        self.collect_parts(old.iter().filter_map(schema).collect())
    }
}
