//! The bounds of inputs, as their schemas state them: characters of texts, items of lists, members of objects.
//!
//! Work of a tool grows with its input, so that a server does not start with a native tool one of whose texts has no bound.

use serde_json::{Map, Value};

use super::refused::NativeToolRefused;

/// Returns the places of an input schema that have no bound, as pointers into an input. An object that does not say whether it has other
/// members is taken for one that ignores them.
#[must_use]
pub fn unbounded_places(schema: &Value) -> Vec<String> {
    let mut places = Vec::new();
    add_unbounded(schema, "", &mut places);
    places.sort_unstable();
    places.dedup();
    places
}

/// Refuses a native tool with an input of any size, but for the places that its handler bounds.
pub(super) fn require_bounds(tool: &str, schema: &Value, bounded_by_handler: &[&str]) -> Result<(), NativeToolRefused> {
    let mut places = unbounded_places(schema).into_iter();
    match places.find(|place| !bounded_by_handler.contains(&place.as_str())) {
        None => Ok(()),
        Some(place) => {
            let problem = format!("the input at {place} has no bound, such as `maxLength` or `maxItems`");
            Err(NativeToolRefused::Invalid { name: tool.to_owned(), problem })
        }
    }
}

/// Returns what is too large in the arguments of a tool: a text or a list among its members that has more than its schema allows.
#[must_use]
pub fn find_excess(schema: &Value, arguments: &Map<String, Value>) -> Option<String> {
    let is_over = |schema: &Value, keyword: &str, count: usize| {
        schema[keyword].as_u64().is_some_and(|most| u64::try_from(count).is_ok_and(|count| count > most))
    };
    let is_long = |schema: &Value, value: &Value| {
        value.as_str().is_some_and(|text| is_over(schema, "maxLength", text.chars().count()))
    };
    arguments.iter().find_map(|(name, value)| {
        let schema = schema["properties"].get(name)?;
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        if is_long(schema, value) {
            return Some(format!("{name} should have at most {} characters", schema["maxLength"]));
        }
        if is_over(schema, "maxItems", items.len()) {
            return Some(format!("{name} should have at most {} items", schema["maxItems"]));
        }
        let item = &schema["items"];
        let has_long = items.iter().any(|value| is_long(item, value));
        has_long.then(|| format!("an item of {name} should have at most {} characters", item["maxLength"]))
    })
}

fn add_unbounded(schema: &Value, place: &str, places: &mut Vec<String>) {
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return;
    }
    let alternatives: Vec<_> =
        ["anyOf", "oneOf", "allOf"].iter().filter_map(|keyword| schema[keyword].as_array()).flatten().collect();
    for alternative in &alternatives {
        add_unbounded(alternative, place, places);
    }
    let types = list_types(schema);
    // A schema that only requires members or excludes values stands beside one with a type.
    let has_type_beside = ["required", "not"].iter().any(|keyword| schema.get(keyword).is_some());
    if types.is_empty() && alternatives.is_empty() && !has_type_beside {
        places.push(place.to_owned());
    }
    for kind in types {
        match kind {
            "string" if !is_bounded_text(schema) => places.push(place.to_owned()),
            "array" => add_unbounded_items(schema, place, places),
            "object" => add_unbounded_members(schema, place, places),
            _ => {}
        }
    }
}

fn list_types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_bounded_text(schema: &Value) -> bool {
    schema["maxLength"].is_u64() || schema["pattern"].as_str().is_some_and(is_bounding)
}

/// Whether an anchored pattern matches texts of a bounded length only: it repeats nothing without end.
fn is_bounding(pattern: &str) -> bool {
    let repeats = pattern.contains(['*', '+']) || pattern.contains(",}");
    pattern.starts_with('^') && pattern.ends_with('$') && !repeats && !pattern.contains('|')
}

fn add_unbounded_items(schema: &Value, place: &str, places: &mut Vec<String>) {
    let prefix = schema["prefixItems"].as_array();
    if !schema["maxItems"].is_u64() {
        places.push(place.to_owned());
    }
    for item in prefix.into_iter().flatten() {
        add_unbounded(item, &format!("{place}/-"), places);
    }
    match schema.get("items") {
        Some(items) => add_unbounded(items, &format!("{place}/-"), places),
        None if prefix.is_none() => places.push(format!("{place}/-")),
        None => {}
    }
}

fn add_unbounded_members(schema: &Value, place: &str, places: &mut Vec<String>) {
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        add_unbounded(member, &format!("{place}/{name}"), places);
    }
    let Some(others) = schema.get("additionalProperties").filter(|others| **others != Value::Bool(false)) else {
        return;
    };
    let has_bounded_names = is_bounded_text(&schema["propertyNames"]);
    if !schema["maxProperties"].is_u64() || !has_bounded_names {
        places.push(place.to_owned());
    }
    if others.is_object() {
        add_unbounded(others, &format!("{place}/*"), places);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_without_a_bound_are_found() {
        for (schema, expected) in [
            (json!({"type": "string"}), vec![""]),
            (json!({"type": ["string", "null"], "minLength": 1}), vec![""]),
            (json!({"type": "string", "format": "date-time"}), vec![""]),
            (json!({"type": "string", "pattern": "^[a-f0-9]+$"}), vec![""]),
            (json!({"type": "string", "pattern": "[a-f0-9]{24}"}), vec![""]),
            (json!({}), vec![""]),
            (json!({"type": "array", "items": {"type": "string"}}), vec!["", "/-"]),
            (json!({"type": "array", "maxItems": 4}), vec!["/-"]),
            (json!({"type": "object", "additionalProperties": true}), vec![""]),
            (json!({"type": "object", "additionalProperties": {"type": "string"}}), vec!["", "/*"]),
            (json!({"type": "object", "additionalProperties": {"type": "null"}, "maxProperties": 9}), vec![""]),
            (json!({"anyOf": [{"type": "null"}, {"type": "string"}]}), vec![""]),
            (
                json!({"type": "object", "properties": {"a": {"type": "array", "maxItems": 1, "items": {}}}}),
                vec!["/a/-"],
            ),
        ] {
            assert_eq!(unbounded_places(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn what_is_too_large_is_named() {
        let names = json!({"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 3}});
        let schema = json!({"properties": {"text": {"type": ["string", "null"], "maxLength": 3}, "names": names}});
        let excess = |arguments: Value| find_excess(&schema, arguments.as_object().unwrap());
        for fitting in [json!({"text": "äöü", "names": ["abc", 1]}), json!({"text": null, "other": "xxxxx"}), json!({})]
        {
            assert_eq!(excess(fitting.clone()), None, "{fitting}");
        }
        for (arguments, told) in [
            (json!({"text": "äöüß"}), "text should have at most 3 characters"),
            (json!({"names": ["a", "b", "c"]}), "names should have at most 2 items"),
            (json!({"names": ["a", "long"]}), "an item of names should have at most 3 characters"),
        ] {
            assert_eq!(excess(arguments).as_deref(), Some(told));
        }
    }

    #[test]
    fn bounds_of_all_kinds_are_known() {
        for schema in [
            json!({"type": "string", "maxLength": 5}),
            json!({"type": "string", "pattern": "^[a-f0-9]{24}$"}),
            json!({"enum": ["a"]}),
            json!({"const": "a"}),
            json!({"type": ["integer", "null"]}),
            json!({"type": "array", "maxItems": 2, "items": {"type": "boolean"}}),
            json!({"type": "array", "maxItems": 2, "prefixItems": [{"type": "null"}, {"const": 1}]}),
            json!({"type": "object", "properties": {"a": {"type": "null"}}}),
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2,
                "propertyNames": {"maxLength": 9}}),
        ] {
            assert_eq!(unbounded_places(&schema), Vec::<String>::new(), "{schema}");
        }
    }
}
