//! The document as a whole: its completeness and its references.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::Value;

use crate::document;
use crate::harness::TestApp;

/// Operations with their method and path.
pub fn list_operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(|(method, operation)| (method.clone(), path.clone(), operation.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

#[tokio::test]
async fn the_document_is_public() {
    let app = TestApp::start().await;
    for path in ["/v1/openapi.json", "/v1/openapi.json/"] {
        let answer = app.request("GET", path).send().await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.headers["content-type"], "application/json");
        assert_eq!(answer.json(), api::build_openapi_document());
    }
}

#[test]
fn every_route_is_in_it() {
    let document = api::build_openapi_document();
    for route in api::list_routes() {
        let path = route.path.replace("{*", "{");
        let operation = &document["paths"][&path][route.method.to_lowercase()];
        assert!(operation.is_object(), "{} {path}", route.method);
        assert_eq!(operation["security"] == serde_json::json!([]), route.permission.is_none(), "{path}");
    }
}

#[test]
fn every_reference_resolves() {
    let document = api::build_openapi_document();
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    assert!(references.len() > 100, "only {} references were found", references.len());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

fn collect_references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| collect_references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_references(value, found)),
        _ => {}
    }
}

#[test]
fn every_schema_admits_its_example() {
    let document = api::build_openapi_document();
    let mut checked = 0;
    for (method, path, operation) in list_operations(&document) {
        let responses = operation["responses"].as_object().unwrap().values();
        for content in responses.chain([&operation["requestBody"]]).filter_map(|part| part.get("content")) {
            let Some(json) = content.get("application/json").filter(|json| json.get("example").is_some()) else {
                continue;
            };
            let errors = document::errors(&json["schema"], &json["example"]);
            assert!(errors.is_empty(), "{method} {path}: {errors:?}");
            checked += 1;
        }
    }
    assert!(checked > 15, "only {checked} examples were found");
}

#[test]
fn links_name_parameters_of_operations() {
    let document = api::build_openapi_document();
    let operations = list_operations(&document);
    let mut checked = 0;
    for (_, _, operation) in &operations {
        for response in operation["responses"].as_object().unwrap().values() {
            for link in response["links"].as_object().into_iter().flat_map(|links| links.values()) {
                let target = operations.iter().find(|(_, _, other)| other["operationId"] == link["operationId"]);
                let (_, path, _) = target.unwrap_or_else(|| panic!("{link}"));
                let parameters = link["parameters"].as_object().unwrap().keys();
                assert!(parameters.clone().all(|name| path.contains(&format!("{{{name}}}"))), "{link}");
                checked += 1;
            }
        }
    }
    assert!(checked > 5, "only {checked} links were found");
}

/// The error reference has a heading for each code.
#[test]
fn every_code_is_explained() {
    let explained = include_str!("../../../../docs/reference/errors.md");
    let headings: BTreeSet<&str> =
        explained.lines().filter(|line| line.starts_with("####")).flat_map(|line| line.split('`')).collect();
    let document = api::build_openapi_document();
    let mut codes = BTreeSet::new();
    collect_codes(&document, &mut codes);
    assert!(codes.len() > 30, "only {codes:?}");
    let silent: Vec<_> = codes.iter().filter(|code| !headings.contains(code.as_str())).collect();
    assert!(silent.is_empty(), "docs/reference/errors.md says nothing about {silent:?}");
}

fn collect_codes(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            let codes = map.get("x-error-codes").and_then(Value::as_array).into_iter().flatten();
            found.extend(codes.map(|code| code.as_str().unwrap().to_owned()));
            map.values().for_each(|value| collect_codes(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_codes(value, found)),
        _ => {}
    }
}
