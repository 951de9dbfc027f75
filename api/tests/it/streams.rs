//! Responses as event streams.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

/// Names and data of the events in a stream.
fn parse_events(body: &[u8]) -> Vec<(String, Value)> {
    let text = std::str::from_utf8(body).unwrap();
    let blocks = text.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    let event = |block: &str| {
        let (name, data) = block.split_once('\n').unwrap();
        let data = data.strip_prefix("data: ").unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), serde_json::from_str(data).unwrap())
    };
    blocks.map(event).collect()
}

#[tokio::test]
async fn a_refusal_of_the_work_is_an_event() {
    let app = TestApp::start().await;
    let input = json!({
        "input_parameters": {}, "invocation_mode": "regular",
        "nonsensitive_user_variables": {}, "sensitive_user_variables": {}
    });
    let path = format!("/tool/{}/version/%3E%3D1.0/invoke", "a".repeat(24));
    let request = app.request_signed("POST", &path).header("accept", "text/event-stream, application/json;q=0.5");
    let answer = request.json(&json!({"inputs": [input]})).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    let error = json!({"status": 404, "detail": "Not found.", "code": "not_found"});
    assert_eq!(parse_events(&answer.body), [("error".to_owned(), error), ("done".to_owned(), json!({}))]);
}

#[tokio::test]
async fn a_refusal_before_the_work_is_a_plain_response() {
    let app = TestApp::start().await;
    let path = format!("/tool/{}/version", app.tool("search").await);
    let request = app.request_signed("POST", &path).header("accept", "text/event-stream");
    let answer = request.json(&json!({"bump_type": "huge", "project_path": "/x"})).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer.json()["detail"].as_array().unwrap().len(), 2);
}
