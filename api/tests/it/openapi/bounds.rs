//! Every text, list and map of a request has a bound: in its schema, or in the table of this file, which says where it stands.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::shape::list_operations;

/// Bounds of everything in one part of a request.
const PARTS: [(&str, &str); 4] = [
    ("path", "path and query have 8 KiB together: 414 `uri_too_long`"),
    ("query", "path and query have 8 KiB together: 414 `uri_too_long`"),
    ("header", "headers have 32 KiB together: 431 `headers_too_large`"),
    ("form", "a value has 4,096 bytes, and a form 64 of them: `mcp/src/oauth/parameters.rs`"),
];

/// Places in bodies whose schemas have no bound: operation, place, where the bound stands.
const BODIES: [(&str, &str, &str); 20] = [
    ("execute-agent", "/context", "64 KiB as JSON: 422"),
    ("assign-tool", "/humanIntervention/rules/-/when", "`HumanIntervention::BYTES_MAX`: 400 `invalid_value`"),
    ("set-agent-state", "/action_tool_call_specs/-/humanIntervention/rules/-/when", "as above"),
    ("set-agent-state", "/designated_tool/humanIntervention/rules/-/when", "as above"),
    ("set-agent-state", "/exit_condition_tool_call_specs/-/humanIntervention/rules/-/when", "as above"),
    ("set-agent-state", "/tool_call_specs/-/humanIntervention/rules/-/when", "as above"),
    ("invoke-tool-version", "/inputs/-/input_parameters", "a body of 1 MiB, and the cost of the version's schema"),
    ("invoke-tool-version-by-name", "/inputs/-/input_parameters", "as above"),
    ("invoke-in-turn", "/inputs/-/input_parameters", "as above"),
    ("test-tool", "/inputs/-/input_parameters", "as above"),
    ("modify-tool-envvars", "/inserts/-/value", "32 KiB: 400 `invalid_value`"),
    ("modify-tool-envvars", "/updates/-/value", "32 KiB: 400 `invalid_value`"),
    ("set-own-variable", "/value", "8 KiB: 400 `invalid_value`"),
    ("set-user-variable", "/value", "8 KiB: 400 `invalid_value`"),
    ("preference_set", "/value", "64 KiB as JSON: 400 `invalid_value`"),
    ("answer-human-request", "/forms", "the answers of a call, 128 KiB: 400 `human_response`"),
    ("resume-agent-run", "/forms", "the answers of a call, 128 KiB: 400 `human_response`"),
    ("post-git-interface", "", "413 `git_body_too_large`"),
    ("post-mcp", "", "a body of 1 MiB, and `mcp/src/messages/message.rs`"),
    ("register-oauth-client", "", "8 KiB: `mcp/src/oauth/registration.rs`"),
];

/// A schema without references.
fn inline_references(schema: &Value, document: &Value) -> Value {
    match schema {
        Value::Object(members) => match members.get("$ref").and_then(Value::as_str) {
            Some(reference) => inline_references(document.pointer(&reference[1..]).expect(reference), document),
            None => members.iter().map(|(name, member)| (name.clone(), inline_references(member, document))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| inline_references(item, document)).collect(),
        other => other.clone(),
    }
}

/// The places without a bound, each with its operation and its part of the request.
fn find_unbounded() -> Vec<(String, String, String)> {
    let document = api::build_openapi_document();
    let mut found = Vec::new();
    for (_, _, operation) in list_operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        let mut add = |part: &str, schema: &Value| {
            let places = runner::unbounded_places(&inline_references(schema, &document)).into_iter();
            found.extend(places.map(|place| (id.to_owned(), part.to_owned(), place)));
        };
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = inline_references(parameter, &document);
            add(parameter["in"].as_str().unwrap(), &parameter["schema"]);
        }
        for (media_type, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
            let part = if media_type.ends_with("form-urlencoded") { "form" } else { "body" };
            add(part, content.get("schema").unwrap_or(&json!({})));
        }
    }
    found
}

#[test]
fn every_text_of_a_request_has_a_bound() {
    let is_known = |operation: &str, place: &str| BODIES.iter().any(|(id, at, _)| (*id, *at) == (operation, place));
    let is_bounded = |(operation, part, place): &(String, String, String)| match part.as_str() {
        "body" => is_known(operation, place),
        part => PARTS.iter().any(|(known, _)| *known == part),
    };
    let silent: Vec<_> = find_unbounded().into_iter().filter(|place| !is_bounded(place)).collect();
    assert!(silent.is_empty(), "give these a `maxLength`, `maxItems` or `maxProperties`: {silent:#?}");
}

/// A place that has got a bound leaves the table.
#[test]
fn the_table_has_no_other_places() {
    let bodies = find_unbounded().into_iter().filter(|(_, part, _)| part == "body");
    let found: BTreeSet<_> = bodies.map(|(operation, _, place)| (operation, place)).collect();
    let gone = BODIES.iter().filter(|(id, place, _)| !found.contains(&((*id).to_owned(), (*place).to_owned())));
    let gone: Vec<_> = gone.collect();
    assert!(gone.is_empty(), "{gone:#?}");
}

#[test]
fn a_text_without_a_bound_would_be_found() {
    let parameter = json!({"type": "object", "properties": {"name": {"$ref": "#/x"}}});
    let schema = inline_references(&parameter, &json!({"x": {"type": "string"}}));
    assert_eq!(runner::unbounded_places(&schema), ["/name"]);
}
