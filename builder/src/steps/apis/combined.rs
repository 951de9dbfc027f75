//! The input schema of a tool with APIs: an object with the name of an API and its arguments.

use std::collections::BTreeMap;

use registry::{ApiName, ToolApi};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::steps::schema;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords whose values are data.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords whose values are schemas by names that the author chooses.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// Makes the schema. A condition for each API, instead of alternatives, lets violations name the place in the arguments.
///
/// # Errors
/// When the schemas together are too large, or cost too much.
pub fn build_input_schema(apis: &BTreeMap<ApiName, ToolApi>) -> Result<Value, Error> {
    let names: Vec<_> = apis.keys().collect();
    let conditions: Vec<_> = apis.keys().map(build_condition).collect();
    let definitions: Map<_, _> = apis.iter().map(|(name, api)| (name.to_string(), move_schema(name, api))).collect();
    schema::combine_schema(json!({
        "$schema": DIALECT,
        "type": "object",
        "properties": {ApiName::MEMBER: {"enum": names}, ApiName::ARGUMENTS_MEMBER: {"type": "object"}},
        "required": [ApiName::MEMBER, ApiName::ARGUMENTS_MEMBER],
        "additionalProperties": false,
        "allOf": conditions,
        "$defs": definitions,
    }))
}

/// The rule that the arguments of an API match its schema.
fn build_condition(name: &ApiName) -> Value {
    let of = |member: &str, schema: Value| json!({"properties": {member: schema}});
    json!({
        "if": of(ApiName::MEMBER, json!({"const": name})),
        "then": of(ApiName::ARGUMENTS_MEMBER, json!({"$ref": build_reference(name)})),
    })
}

fn build_reference(name: &ApiName) -> String {
    format!("#/$defs/{name}")
}

/// The schema of an API as a definition of the combined schema.
fn move_schema(name: &ApiName, api: &ToolApi) -> Value {
    let mut schema = api.input_schema.value();
    if let Value::Object(keywords) = &mut schema {
        keywords.remove("$id");
        if keywords.get("$schema").is_some_and(|dialect| dialect == DIALECT) {
            keywords.remove("$schema");
        }
    }
    move_references(&mut schema, &build_reference(name));
    schema
}

/// Prefixes all references, which are JSON pointers into the schema, with the new place of the schema.
fn move_references(schema: &mut Value, place: &str) {
    match schema {
        Value::Object(keywords) => keywords.iter_mut().for_each(|(keyword, value)| match (keyword.as_str(), value) {
            ("$ref", Value::String(reference)) => {
                if let Some(pointer) = reference.strip_prefix('#') {
                    *reference = format!("{place}{pointer}");
                }
            }
            (keyword, _) if DATA.contains(&keyword) => {}
            (keyword, Value::Object(named)) if NAMED.contains(&keyword) => {
                named.values_mut().for_each(|schema| move_references(schema, place));
            }
            (_, value) => move_references(value, place),
        }),
        Value::Array(schemas) => schemas.iter_mut().for_each(|schema| move_references(schema, place)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use registry::Description;
    use runner::InputSchema;

    use super::*;

    fn apis(schemas: &Value) -> BTreeMap<ApiName, ToolApi> {
        let api = |(name, schema): (&String, &Value)| {
            let api = ToolApi {
                description: Description::parse("An API.").unwrap(),
                input_schema: schema.clone().into(),
                output_schema: None,
                annotations: registry::Annotations::default(),
                intervention: registry::Intervention::Never,
            };
            (ApiName::parse(name).unwrap(), api)
        };
        schemas.as_object().unwrap().iter().map(api).collect()
    }

    fn accepts(schema: &Value, input: &Value) -> bool {
        InputSchema::compile(schema).unwrap().accepts(input, 1_000_000).expect("a cheap input")
    }

    #[test]
    fn an_input_names_an_api_and_has_its_arguments() {
        let of = |member: &str| json!({"type": "object", "properties": {member: {}}, "additionalProperties": false});
        let schema = build_input_schema(&apis(&json!({"create": of("item"), "list": of("page")}))).unwrap();
        for (input, expected) in [
            (json!({"api": "create", "arguments": {"item": 1}}), true),
            (json!({"api": "list", "arguments": {"page": 1}}), true),
            (json!({"api": "list", "arguments": {}}), true),
            (json!({"api": "create", "arguments": {"page": 1}}), false),
            (json!({"api": "remove", "arguments": {}}), false),
            (json!({"api": "create"}), false),
            (json!({"api": "create", "arguments": []}), false),
            (json!({"arguments": {}}), false),
            (json!({"api": "create", "arguments": {}, "more": 1}), false),
        ] {
            assert_eq!(accepts(&schema, &input), expected, "{input}");
        }
    }

    #[test]
    fn references_keep_their_meaning() {
        let tree = json!({
            "$schema": DIALECT, "$id": "https://example.com/tree", "type": "object",
            "properties": {
                "$ref": {"$ref": "#/$defs/name"}, "left": {"$ref": "#"}, "kind": {"enum": [{"$ref": "#/$defs/name"}]},
                "const": {"$ref": "#/$defs/name"},
            },
            "$defs": {"name": {"type": "string"}},
        });
        let schema = build_input_schema(&apis(&json!({"plant": tree}))).unwrap();
        let moved = &schema["$defs"]["plant"];
        assert_eq!(moved["properties"]["$ref"]["$ref"], "#/$defs/plant/$defs/name");
        assert_eq!(moved["properties"]["const"]["$ref"], "#/$defs/plant/$defs/name");
        assert_eq!(moved["properties"]["left"]["$ref"], "#/$defs/plant");
        assert_eq!(moved["properties"]["kind"]["enum"][0]["$ref"], "#/$defs/name");
        let call = |arguments: Value| json!({"api": "plant", "arguments": arguments});
        assert!(accepts(&schema, &call(json!({"left": {"left": {"const": "oak"}}}))));
        assert!(!accepts(&schema, &call(json!({"left": {"left": {"const": 1}}}))));
        assert!(!accepts(&schema, &call(json!({"$ref": 1}))));
    }

    #[test]
    fn schemas_that_do_not_go_together_are_refused() {
        let early = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"});
        let refused = build_input_schema(&apis(&json!({"create": early}))).unwrap_err().to_string();
        assert!(refused.contains("/$defs/create/$schema: $schema differs"), "{refused}");
        let large = json!({"type": "object", "description": "x".repeat(200_000)});
        let refused = build_input_schema(&apis(&json!({"create": large, "list": large}))).unwrap_err().to_string();
        assert!(refused.contains("at most 262144 bytes"), "{refused}");
    }
}
