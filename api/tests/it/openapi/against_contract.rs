//! Compares the document with the published contract: everything in the contract is in the document.
//!
//! Names of path parameters and of schemas are not sent, so they may differ. The document may have more than the contract.
//! The few differences are listed here, each with its reason.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::shape::list_operations;

static PATHS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../tests/contract/tool-paths.json")).unwrap());
static SCHEMAS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../tests/contract/tool-schemas.json")).unwrap());
static OURS: LazyLock<Value> = LazyLock::new(api::build_openapi_document);

/// Patterns that differ: the contract's pattern, our pattern, the reason.
const PATTERNS: [(&str, &str, &str); 2] = [
    (
        "[A-Z_]+",
        "^[A-Z_][A-Z0-9_]*$",
        "without anchors the pattern admits every text with one such character, so also digits",
    ),
    ("^[-\\w\\d_/]+$", "^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/?$", "a path that leads somewhere"),
];

/// The one operation id of the contract that two operations share, which OpenAPI forbids.
const SHARED_ID: (&str, &str, &str) = ("access-git-interface", "post", "post-git-interface");

fn list_contract_operations() -> Vec<(String, String, Value)> {
    list_operations(&json!({"paths": *PATHS}))
}

fn strip_names(path: &str) -> String {
    let segments = path.trim_end_matches('/').split('/');
    segments.map(|segment| if segment.starts_with('{') { "{}" } else { segment }).collect::<Vec<_>>().join("/")
}

/// Our operation with the same method and path.
fn find_ours(method: &str, path: &str) -> (String, Value) {
    let found = list_operations(&OURS)
        .into_iter()
        .find(|(our_method, our_path, _)| our_method == method && strip_names(our_path) == strip_names(path));
    found.map(|(_, path, operation)| (path, operation)).unwrap_or_else(|| panic!("{method} {path} is missing"))
}

fn resolve(value: &Value) -> Value {
    let Some(reference) = value["$ref"].as_str() else { return value.clone() };
    let pointer = reference.strip_prefix('#').unwrap();
    let found = OURS.pointer(pointer).cloned();
    found.or_else(|| SCHEMAS.get(pointer.rsplit('/').next().unwrap()).cloned()).unwrap_or_else(|| panic!("{reference}"))
}

#[test]
fn every_operation_is_there_by_its_id() {
    let operations = list_contract_operations();
    assert_eq!(operations.len(), 15);
    for (method, path, operation) in operations {
        let id = operation["operationId"].as_str().unwrap();
        let expected = if (id, method.as_str()) == (SHARED_ID.0, SHARED_ID.1) { SHARED_ID.2 } else { id };
        assert_eq!(find_ours(&method, &path).1["operationId"], expected, "{method} {path}");
    }
}

#[test]
fn every_parameter_is_there_with_its_bounds() {
    let mut checked = 0;
    for (method, path, operation) in list_contract_operations() {
        let (our_path, our_operation) = find_ours(&method, &path);
        let our_parameters: Vec<Value> = our_operation["parameters"].as_array().unwrap().iter().map(resolve).collect();
        let position =
            |path: &str, name: &Value| path.split('/').position(|part| Some(part) == find_braced(name).as_deref());
        for parameter in operation["parameters"].as_array().unwrap() {
            let same = |candidate: &&Value| {
                candidate["in"] == parameter["in"]
                    && if parameter["in"] == "path" {
                        position(&our_path, &candidate["name"]) == position(&path, &parameter["name"])
                    } else {
                        candidate["name"] == parameter["name"]
                    }
            };
            let what = format!("{method} {path}: {}", parameter["name"]);
            let found = our_parameters.iter().find(same).unwrap_or_else(|| panic!("{what} is missing"));
            assert_eq!(found["required"], parameter["required"], "{what}");
            check_input_includes(&found["schema"], &parameter["schema"], &what);
            checked += 1;
        }
    }
    assert_eq!(checked, 84);
}

fn find_braced(name: &Value) -> Option<String> {
    name.as_str().map(|name| format!("{{{name}}}"))
}

#[test]
fn every_body_has_the_fields_and_bounds() {
    let mut checked = 0;
    for (method, path, operation) in list_contract_operations() {
        let Some(body) = operation.get("requestBody") else { continue };
        let our_body = &find_ours(&method, &path).1["requestBody"];
        assert_eq!(our_body["required"], body["required"]);
        let schema = |body: &Value| body["content"]["application/json"]["schema"].clone();
        check_input_includes(&schema(our_body), &schema(body), &format!("{method} {path}"));
        checked += 1;
    }
    assert_eq!(checked, 6);
}

#[test]
fn every_status_is_there_with_its_shape() {
    let mut shapes = 0;
    for (method, path, operation) in list_contract_operations() {
        let our_operation = find_ours(&method, &path).1;
        for (status, response) in operation["responses"].as_object().unwrap() {
            let what = format!("{method} {path} {status}");
            let our_response = resolve(&our_operation["responses"][status]);
            assert!(our_response.is_object(), "{what} is missing");
            let schema = &response["content"]["application/json"]["schema"];
            if schema["$ref"].is_string() {
                check_output_is(&our_response["content"]["application/json"]["schema"], schema, &what);
                shapes += 1;
            }
        }
    }
    assert_eq!(shapes, 10);
    check_output_is(&json!({"$ref": "#/components/schemas/InvalidRequest"}), &SCHEMAS["HTTPValidationError"], "422");
}

/// The server reads what the contract's clients may send: our schema has each of their keywords, with the same value.
fn check_input_includes(ours: &Value, theirs: &Value, what: &str) {
    let (ours, theirs) = (strip_null(resolve(ours)), strip_null(resolve(theirs)));
    for (keyword, value) in theirs.as_object().unwrap() {
        let what = format!("{what} {keyword}");
        match keyword.as_str() {
            "properties" => {
                for (name, property) in value.as_object().unwrap() {
                    check_input_includes(&ours["properties"][name], property, &format!("{what}.{name}"));
                }
            }
            "items" | "propertyNames" => check_input_includes(&ours[keyword], value, &what),
            "additionalProperties" if value.is_object() => check_input_includes(&ours[keyword], value, &what),
            "required" => assert_eq!(set(&ours[keyword]), set(value), "{what}"),
            "enum" => assert!(set(value).is_subset(&set(&ours[keyword])), "{what}"),
            "pattern" => assert_eq!(ours[keyword].as_str(), Some(map_pattern(value.as_str().unwrap())), "{what}"),
            "exclusiveMinimum" => assert_eq!(ours["minimum"].as_u64(), value.as_u64().map(|least| least + 1), "{what}"),
            _ => assert_eq!(&ours[keyword], value, "{what}"),
        }
    }
}

/// The contract's clients can read our responses: all their fields are there, with the same types.
fn check_output_is(ours: &Value, theirs: &Value, what: &str) {
    let (ours, theirs) = (resolve(ours), resolve(theirs));
    if let Some(alternatives) = theirs["oneOf"].as_array().or(theirs["anyOf"].as_array()) {
        return check_one_of(&ours, alternatives, what);
    }
    for (keyword, value) in theirs.as_object().unwrap() {
        let what = format!("{what} {keyword}");
        match keyword.as_str() {
            "properties" => {
                for (name, property) in value.as_object().unwrap() {
                    // Optional fields that the contract itself never requires.
                    if ours["properties"].get(name).is_some() || set(&theirs["required"]).contains(name) {
                        check_output_is(&ours["properties"][name], property, &format!("{what}.{name}"));
                    }
                }
            }
            "items" => check_output_is(&ours[keyword], value, &what),
            "prefixItems" => {
                for (index, item) in value.as_array().unwrap().iter().enumerate() {
                    check_output_is(&ours[keyword][index], item, &what);
                }
            }
            "required" => assert!(set(value).is_subset(&set(&ours[keyword])), "{what}"),
            // A default applies to an absent field; our fields are never absent.
            "default" => {}
            "additionalProperties" if *value == json!(true) => assert_ne!(ours[keyword], json!(false), "{what}"),
            _ => assert_eq!(&ours[keyword], value, "{what}"),
        }
    }
}

/// Each of their alternatives is one of ours. Only the record of a run that has not ended has no status; lists never show
/// it.
fn check_one_of(ours: &Value, theirs: &[Value], what: &str) {
    let alternatives = list_alternatives(ours);
    for their in theirs.iter().map(resolve).filter(|their| !their.as_object().unwrap().is_empty()) {
        let fits = |our: &Value| std::panic::catch_unwind(|| check_output_is(our, &their, what)).is_ok();
        assert!(alternatives.iter().any(fits), "{what}: none of {alternatives:?} is {their}");
    }
}

/// The alternatives of a schema, merged with the keywords beside them.
fn list_alternatives(schema: &Value) -> Vec<Value> {
    let schema = resolve(schema);
    if let Some(types) = schema["type"].as_array() {
        return types.iter().map(|one| merge_schemas(&schema, &json!({"type": one}))).collect();
    }
    let Some(inner) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) else { return vec![schema] };
    inner.iter().flat_map(list_alternatives).map(|one| merge_schemas(&schema, &one)).collect()
}

fn merge_schemas(outer: &Value, inner: &Value) -> Value {
    let mut merged: Map<_, _> = outer.as_object().unwrap().clone();
    merged.remove("oneOf");
    merged.remove("anyOf");
    for (keyword, value) in inner.as_object().unwrap() {
        match (merged.get_mut(keyword), value) {
            (Some(Value::Object(ours)), Value::Object(more)) => ours.extend(more.clone()),
            (Some(Value::Array(ours)), Value::Array(more)) => ours.extend(more.clone()),
            _ => drop(merged.insert(keyword.clone(), value.clone())),
        }
    }
    Value::Object(merged)
}

/// The schema without null.
fn strip_null(schema: Value) -> Value {
    if let [form, null] = schema["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default()
        && *null == json!({"type": "null"})
    {
        return resolve(form);
    }
    let mut schema = schema;
    if let Some([kind, _]) = schema["type"].as_array().map(Vec::as_slice) {
        schema["type"] = kind.clone();
    }
    schema
}

fn map_pattern(theirs: &str) -> &str {
    PATTERNS.iter().find(|(contracts, _, _)| *contracts == theirs).map_or(theirs, |(_, ours, _)| ours)
}

fn set(list: &Value) -> BTreeSet<String> {
    let texts = list.as_array().into_iter().flatten();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}
