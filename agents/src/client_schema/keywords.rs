//! The places of schemas within a schema.

use serde_json::{Map, Value};

/// Keywords with one schema.
const ONE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords with a list of schemas. `items` has one in early dialects.
const LISTS: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords with an object of schemas. `dependencies` may have lists of names, too.
const MAPS: [&str; 6] = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
/// Keywords at which readers expect a boolean as well as a schema.
const OF_BOOLEANS: [&str; 4] = ["additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"];

/// Visits the schemas directly within a schema, with the keyword of each. Booleans of [`OF_BOOLEANS`] are left out.
pub(super) fn for_each_part(schema: &mut Map<String, Value>, mut visit: impl FnMut(&str, &mut Value)) {
    for (keyword, value) in schema {
        let keyword = keyword.as_str();
        match value {
            Value::Array(items) if LISTS.contains(&keyword) => items.iter_mut().for_each(|item| visit(keyword, item)),
            Value::Object(members) if MAPS.contains(&keyword) => {
                let parts = members.values_mut().filter(|part| !part.is_array());
                parts.for_each(|part| visit(keyword, part));
            }
            Value::Bool(_) if OF_BOOLEANS.contains(&keyword) => {}
            Value::Bool(_) | Value::Object(_) if ONE.contains(&keyword) => visit(keyword, value),
            _ => {}
        }
    }
}

/// Finds the part of a document to which a reference such as `#/$defs/order` points. `None` for a reference to another document.
pub(super) fn find_part<'s>(document: &'s Map<String, Value>, reference: &str) -> Option<&'s Value> {
    let path = reference.strip_prefix("#/")?;
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let first = document.get(&first.replace("~1", "/").replace("~0", "~"))?;
    if rest.is_empty() { Some(first) } else { first.pointer(&format!("/{rest}")) }
}
