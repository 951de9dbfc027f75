//! Schemas of the server's own tools in the words that every reader knows: one type in each place, and no schema without a type.

use serde_json::{Map, Value, json};

use super::keywords::for_each_part;

/// Keywords of the values of each type. They move to the alternative of their type.
const OF_TYPES: [(&[&str], &[&str]); 4] = [
    (&["string"], &["contentEncoding", "contentMediaType", "format", "maxLength", "minLength", "pattern"]),
    (&["integer", "number"], &["exclusiveMaximum", "exclusiveMinimum", "format", "maximum", "minimum", "multipleOf"]),
    (&["array"], &["contains", "items", "maxItems", "minItems", "prefixItems", "uniqueItems"]),
    (
        &["object"],
        &[
            "additionalProperties",
            "maxProperties",
            "minProperties",
            "patternProperties",
            "properties",
            "propertyNames",
            "required",
        ],
    ),
];
/// The types of all values.
const TYPES: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];
/// Keywords that say nothing about values.
const ANNOTATIONS: [&str; 9] =
    ["$comment", "$defs", "$schema", "default", "deprecated", "description", "examples", "readOnly", "title"];

/// Rewrites a schema: a list of types becomes alternatives, and a schema of any value names the types of all values. Both accept the
/// same values as before.
pub(crate) fn write_portably(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    split_types(members);
    for_each_part(members, |keyword, part| {
        // Beside `not`, a schema without a type is the one that every reader knows.
        if keyword != "not" {
            name_types(part);
        }
        write_portably(part);
    });
}

/// Replaces the list of types of a schema by alternatives.
fn split_types(members: &mut Map<String, Value>) {
    let types = match members.get("type") {
        Some(Value::Array(types)) if !members.contains_key("anyOf") => types.clone(),
        _ => return,
    };
    members.remove("type");
    let alternatives: Vec<_> = types.into_iter().map(|one| build_alternative(members, one)).collect();
    for (_, keywords) in OF_TYPES {
        keywords.iter().for_each(|keyword| drop(members.remove(*keyword)));
    }
    members.insert("anyOf".to_owned(), json!(alternatives));
}

/// The alternative of one type, with the keywords of its values.
fn build_alternative(members: &Map<String, Value>, one: Value) -> Value {
    let keywords = OF_TYPES.iter().find(|(types, _)| one.as_str().is_some_and(|name| types.contains(&name)));
    let keywords = keywords.into_iter().flat_map(|(_, keywords)| *keywords);
    let mut schema: Map<_, _> =
        keywords.filter_map(|keyword| Some(((*keyword).to_owned(), members.get(*keyword)?.clone()))).collect();
    schema.insert("type".to_owned(), one);
    Value::Object(schema)
}

/// Names the types of all values in a schema that says nothing about them.
fn name_types(schema: &mut Value) {
    let says_nothing = match schema {
        Value::Bool(accepts) => *accepts,
        Value::Object(members) => members.keys().all(|key| ANNOTATIONS.contains(&key.as_str())),
        _ => false,
    };
    if !says_nothing {
        return;
    }
    let mut members = schema.as_object().cloned().unwrap_or_default();
    members.insert("anyOf".to_owned(), TYPES.map(|one| json!({"type": one})).into());
    *schema = Value::Object(members);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_types_become_alternatives() {
        for (schema, expected) in [
            (
                json!({"type": ["string", "null"], "maxLength": 5, "description": "A text.", "default": null}),
                json!({"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}], "description": "A text.", "default": null}),
            ),
            (
                json!({"type": ["array", "null"], "items": {"type": ["integer", "null"], "minimum": 1}}),
                json!({"anyOf": [
                    {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}, {"type": "null"},
                ]}),
            ),
            (
                json!({"type": ["string", "null"], "enum": ["a", null]}),
                json!({"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["a", null]}),
            ),
        ] {
            let mut written = schema.clone();
            write_portably(&mut written);
            assert_eq!(written, expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_of_any_value_names_all_types() {
        let any = TYPES.map(|one| json!({"type": one}));
        let mut schema = json!({
            "type": "object", "additionalProperties": true, "not": {}, "const": {},
            "properties": {"a": true, "b": {"description": "Any value."}, "c": {"type": "string"}},
        });
        write_portably(&mut schema);
        let expected =
            json!({"a": {"anyOf": any}, "b": {"description": "Any value.", "anyOf": any}, "c": {"type": "string"}});
        assert_eq!(schema["properties"], expected);
        assert_eq!(
            (&schema["additionalProperties"], &schema["not"], &schema["const"]),
            (&json!(true), &json!({}), &json!({}))
        );
    }
}
