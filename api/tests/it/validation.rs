//! Requests with an invalid form: 422 with the location, or the exceeded bound.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

/// The locations in a 422 response.
fn list_locations(body: &Value) -> Vec<String> {
    let location = |problem: &Value| {
        let steps = problem["loc"].as_array().unwrap().iter();
        steps.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned)).collect::<Vec<_>>().join(".")
    };
    body["detail"].as_array().unwrap().iter().map(location).collect()
}

#[tokio::test]
async fn missing_and_wrong_fields_are_all_named() {
    let app = TestApp::start().await;
    let answer = app.post("/tool", &json!({"name": "No Way", "tags": {"a-b": null}})).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let body = answer.check_shape("HTTPValidationError");
    assert_eq!(body["code"], "request_invalid");
    assert_eq!(list_locations(&body), ["body.name", "body.description", "body.tags"]);
}

#[tokio::test]
async fn bodies_that_are_not_json_are_refused() {
    let app = TestApp::start().await;
    for (content_type, body) in [
        ("application/json", "{"),
        ("application/json", ""),
        ("application/json", "[]"),
        ("application/json", r#"{"name":"a","name":"b","description":"d","tags":{}}"#),
        ("text/plain", r#"{"name":"a","description":"d","tags":{}}"#),
        ("", r#"{"name":"a","description":"d","tags":{}}"#),
    ] {
        let answer = app.request_signed("POST", "/tool").header("content-type", content_type).body(body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{content_type} {body}");
        assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), ["body"], "{content_type} {body}");
    }
}

#[tokio::test]
async fn a_body_over_one_mebibyte_is_refused() {
    let app = TestApp::start().await;
    let body = json!({"name": "a", "description": "x".repeat(1024 * 1024), "tags": {}});
    assert_eq!(app.post("/tool", &body).await.refusal(), (413, "body_too_large".into()));
}

#[tokio::test]
async fn queries_are_bounded() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    for (path, place) in [
        ("/tool?limit=0".to_owned(), "query.limit"),
        ("/tool?limit=21".to_owned(), "query.limit"),
        ("/tool?limit=ten".to_owned(), "query.limit"),
        ("/tool?continuation_token=-1".to_owned(), "query.continuation_token"),
        ("/tool?deprecated=maybe".to_owned(), "query.deprecated"),
        ("/tool?sort_by=%2Bcolour".to_owned(), "query.sort_by.0"),
        ("/tool?id=xyz".to_owned(), "query.id.0"),
        (format!("/tool/{tool}/version?limit=51"), "query.limit"),
        (format!("/tool/{tool}/version?versions=abc"), "query.versions"),
        (format!("/tool/{tool}/version?creator=ada"), "query.creator.0"),
        (format!("/tool/{tool}/version?creator=acme,a%00a"), "query.creator.0"),
        (format!("/tool/{tool}/version?versions=%3E1%00"), "query.versions"),
        ("/tool?sort_by=name".to_owned(), "query.sort_by.0"),
        ("/tool?tag=team".to_owned(), "query.tag.0"),
        ("/tool?tag=team:a%00".to_owned(), "query.tag.0"),
        ("/agent?slug=a%00".to_owned(), "query.slug.0"),
        ("/tool/invocation?user_id=a%00".to_owned(), "query.user_id.0"),
        ("/tool/invocation?host=a%00".to_owned(), "query.host.0"),
        ("/tool/invocation?secret=a%00".to_owned(), "query.secret.0"),
        ("/tool/invocation?refusal=a%00".to_owned(), "query.refusal.0"),
        ("/tool/invocation/search?query=a%00&query_against=inputs".to_owned(), "query.query"),
        ("/agent_run?status=a%00".to_owned(), "query.status"),
        ("/tool/invocation?limit=101".to_owned(), "query.limit"),
        ("/tool/invocation?invocation_source_type=other".to_owned(), "query.invocation_source_type.0"),
        ("/tool/invocation/search?query_against=invocation_status.output".to_owned(), "query.query"),
        ("/tool/invocation/search?query=x&query_against=input".to_owned(), "query.query_against.0"),
        (
            format!("/tool/invocation/search?query={}&query_against=invocation_status.output", "w+".repeat(33)),
            "query.query",
        ),
        ("/tool/invocation/nothex".to_owned(), "path.invocation_id"),
        ("/tool/nothex/version".to_owned(), "path.tool_id"),
    ] {
        let answer = app.get(&path).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
        assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), [place], "{path}");
    }
}

#[tokio::test]
async fn inputs_of_an_invocation_are_checked_before_the_tool() {
    let app = TestApp::start().await;
    let path = format!("/tool/{}/version/1.0.0/invoke", "a".repeat(24));
    let input = json!({
        "input_parameters": {}, "invocation_mode": "regular",
        "nonsensitive_user_variables": {}, "sensitive_user_variables": {}
    });
    let mut many = vec![input.clone(); 11];
    for (inputs, place) in [
        (json!([]), "body.inputs"),
        (json!(many), "body.inputs"),
        (json!([{"input_parameters": 1}]), "body.inputs.0.input_parameters"),
        (json!([{"invocation_mode": "dry-run"}]), "body.inputs.0.invocation_mode"),
        (json!([{"sensitive_user_variables": {"A": "b"}}]), "body.inputs.0.sensitive_user_variables.A"),
    ] {
        let merged: Vec<Value> = inputs.as_array().unwrap().iter().map(|change| merge(&input, change)).collect();
        let answer = app.post(&path, &json!({"inputs": merged})).await;
        assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), [place]);
    }
    many.truncate(10);
    assert_eq!(app.post(&path, &json!({"inputs": many})).await.refusal(), (404, "not_found".into()));
    let answer =
        app.post(&path, &json!({"inputs": [input], "invocation_source": {"type": "direct", "user_id": "x"}})).await;
    assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), ["body.invocation_source"]);
    let metadata =
        json!({"type": "engage-user", "current_state_machine_and_version": ["m", 1], "tool_call_round_index": 0});
    let source = json!({"type": "regular-conversation", "user_id": "a\0b", "invocation_metadata": metadata});
    let answer = app.post(&path, &json!({"inputs": many, "invocation_source": source})).await;
    assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), ["body.invocation_source.user_id"]);
    // A number is not the name of a kind.
    let metadata = json!({"type": 1, "current_state_machine_and_version": ["m", 1], "tool_call_round_index": 0});
    for kind in [json!(0), json!("regular-conversation")] {
        let source = json!({"type": kind, "user_id": "x", "invocation_metadata": metadata});
        let answer = app.post(&path, &json!({"inputs": many, "invocation_source": source})).await;
        let place = if kind.is_number() {
            "body.invocation_source.type"
        } else {
            "body.invocation_source.invocation_metadata.type"
        };
        assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), [place]);
    }
}

fn merge(base: &Value, change: &Value) -> Value {
    let mut merged = base.clone();
    merged.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    merged
}

#[tokio::test]
async fn ids_are_24_lower_case_hexadecimal_characters() {
    let app = TestApp::start().await;
    for id in ["A".repeat(24), "a".repeat(23), "a".repeat(25), "g".repeat(24), "%20".to_owned() + &"a".repeat(23)] {
        for (method, path, place) in [
            ("POST", format!("/tool/{id}"), "path.tool_id"),
            ("DELETE", format!("/tool/{id}"), "path.tool_id"),
            ("POST", format!("/tool/{id}/envvar"), "path.tool_id"),
            ("GET", format!("/tool/{id}/version"), "path.tool_id"),
            ("POST", format!("/tool/{id}/version"), "path.tool_id"),
            ("GET", format!("/tool/{id}/version/1.0.0"), "path.tool_id"),
            ("DELETE", format!("/tool/{id}/version/1.0.0"), "path.tool_id"),
            ("POST", format!("/tool/{id}/version/1.0.0/invoke"), "path.tool_id"),
            ("GET", format!("/tool/invocation/{id}"), "path.invocation_id"),
            ("GET", format!("/tool?id={}&id={id}", "a".repeat(24)), "query.id.1"),
            ("GET", format!("/tool/invocation?tool_id={id}"), "query.tool_id.0"),
            ("GET", format!("/tool/invocation?conversation_id={id}"), "query.conversation_id.0"),
            (
                "GET",
                format!("/tool/invocation?simulation_unit_test_set_run_id={id}"),
                "query.simulation_unit_test_set_run_id.0",
            ),
        ] {
            let answer = app.request_signed(method, &path).send().await;
            assert_eq!(answer.refusal(), (422, "request_invalid".into()), "{method} {path}");
            assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), [place], "{method} {path}");
        }
    }
}

#[tokio::test]
async fn invalid_constraints_are_refused_with_their_location() {
    let app = TestApp::start().await;
    let id = "a".repeat(24);
    let clauses = |count: usize| vec!["%3E%3D1"; count].join(",");
    let digits = |bytes: usize| format!("%3D%3D{}", "1".repeat(bytes - 2));
    for (text, is_right) in [
        ("%3E%3D1.0".to_owned(), true),
        (clauses(16), true),
        (clauses(17), false),
        (digits(20), true),
        (format!("%3D%3D1.{}", "0".repeat(252)), true),
        (format!("%3D%3D1.{}", "0".repeat(253)), false),
        (digits(23), false),
        ("latest".to_owned(), false),
        ("1.0.".to_owned(), false),
        ("~%3D1".to_owned(), false),
        ("%3E%3D1.*".to_owned(), false),
        ("%3D%3D1.0%00".to_owned(), false),
        ("%3D%3D1.0%20%3B%20x".to_owned(), false),
    ] {
        for (method, path, place) in [
            ("DELETE", format!("/tool/{id}/version/{text}"), "path.version"),
            ("GET", format!("/tool/{id}/version?versions={text}"), "query.versions"),
            ("GET", format!("/tool/invocation?tool_id={id}&version={text}"), "query.version.0"),
        ] {
            let answer = app.request_signed(method, &path).send().await;
            assert_eq!(answer.status != StatusCode::UNPROCESSABLE_ENTITY, is_right, "{method} {path}");
            if !is_right {
                assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), [place], "{method} {path}");
            }
        }
    }
    // An empty constraint would admit every version.
    for nothing in ["%20", ",", "%20,%20"] {
        let answer = app.delete(&format!("/tool/{id}/version/{nothing}")).await;
        assert_eq!(list_locations(&answer.check_shape("HTTPValidationError")), ["path.version"], "{nothing}");
    }
    assert_eq!(app.get(&format!("/tool/invocation?tool_id={id}&version=")).await.status, StatusCode::OK);
}
