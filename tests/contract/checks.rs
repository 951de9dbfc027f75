//! Tests of the harness's contract checks: each response here has one error, and must be refused.

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::harness::Answer;
use crate::harness::contract::{Sent, check};

fn passes(method: &str, path: &str, status: u16, body: &Value) -> bool {
    let headers =
        HeaderMap::from_iter([("content-type".parse().expect("a name"), HeaderValue::from_static("application/json"))]);
    let sent = Sent {
        method: method.to_owned(),
        path: format!("/v1/acme{path}"),
        query: Vec::new(),
        headers: Vec::new(),
        body: None,
    };
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let answer = Answer { status, headers, body };
    std::panic::catch_unwind(|| check(&sent, &answer)).is_ok()
}

/// Returns `document` with `value` at `pointer`, or with the value there removed.
fn changed(document: &Value, pointer: &str, value: Option<Value>) -> Value {
    let mut changed = document.clone();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = changed.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    match value {
        Some(value) => drop(parent.insert(name.to_owned(), value)),
        None => drop(parent.remove(name).expect("something to take away")),
    }
    changed
}

fn user() -> Value {
    json!({"org_id": "acme", "user_id": "ada"})
}

fn tools() -> Value {
    let tool = json!({
        "id": "a".repeat(24), "org_id": "acme", "name": "x", "description": "d", "deprecated": false, "envvars": [],
        "secret_envvars": [], "tags": [{"key": "k", "value": null}], "creator": user(), "updated_by": user(),
        "created_at": "2026-01-02T03:04:05.678Z", "updated_at": "2026-01-02T03:04:05Z",
    });
    json!({"tools": {"0": tool}, "has_more": false, "continuation_token": null, "filter_values": null})
}

/// Converts the tools to a list. They are written as an object so that a pointer can change them.
fn listed(document: &Value) -> Value {
    let mut document = document.clone();
    document["tools"] = json!([document["tools"]["0"]]);
    document
}

#[test]
fn a_list_that_strict_clients_refuse_is_refused() {
    let answer =
        |pointer: &str, value: Option<Value>| passes("GET", "/tool/", 200, &listed(&changed(&tools(), pointer, value)));
    assert!(passes("GET", "/tool/", 200, &listed(&tools())));
    assert!(answer("/tools/0/more", Some(json!(1))), "what is ours may be added");
    for missing in ["/continuation_token", "/filter_values", "/has_more", "/tools/0/tags", "/tools/0/creator"] {
        assert!(!answer(missing, None), "{missing}");
    }
    for (place, wrong) in [
        ("/tools/0/tags", json!({"k": null})),
        ("/tools/0/creator", Value::Null),
        ("/tools/0/created_at", json!("2026-01-02T03:04:05")),
        ("/tools/0/created_at", json!("2026-01-02 03:04:05+00:00")),
        ("/tools/0/id", json!("A".repeat(24))),
        ("/tools/0/id", json!("a".repeat(23))),
        ("/continuation_token", json!("1")),
        ("/continuation_token", json!(1.5)),
    ] {
        assert!(!answer(place, Some(wrong.clone())), "{place} = {wrong}");
    }
}

#[test]
fn a_result_that_strict_clients_refuse_is_refused() {
    let path = format!("/tool/{}/version/1.0.0/invoke", "a".repeat(24));
    let answer = |result: Value| passes("POST", &path, 200, &json!({"invocation_results": [result]}));
    assert!(answer(json!({"succeeded": true, "output": "x", "duration_ms": 3})));
    for wrong in [
        json!({"succeeded": true, "output": {"x": 1}, "duration_ms": 3}),
        json!({"succeeded": true, "output": "x", "duration_ms": 3.5}),
        json!({"succeeded": true, "output": "x", "duration_ms": 3.0}),
        json!({"succeeded": true, "output": "x"}),
        json!({"succeeded": false, "output": "x", "duration_ms": 3}),
        json!({"succeeded": false, "exception_message": "", "exception_type": "", "exception_stack_trace": "", "duration_ms": 3}),
    ] {
        assert!(!answer(wrong.clone()), "{wrong}");
    }
}

#[test]
fn a_refusal_has_a_documented_status_and_a_code() {
    let refusal = json!({"detail": "No.", "code": "no"});
    assert!(passes("POST", "/tool", 409, &refusal));
    assert!(!passes("GET", "/tool", 409, &refusal), "the list documents no 409");
    assert!(!passes("POST", "/tool", 200, &json!({"id": "a".repeat(24)})), "creation is a 201");
    assert!(!passes("POST", "/tool", 409, &json!({"detail": "No."})));
    assert!(!passes("POST", "/tool", 422, &refusal));
    let problem = json!({"loc": ["body", 0], "msg": "No.", "type": "no"});
    assert!(passes("POST", "/tool", 422, &json!({"detail": [problem], "code": "no"})));
    assert!(!passes("DELETE", &format!("/tool/{}", "a".repeat(24)), 204, &json!({})), "204 has no body");
}
