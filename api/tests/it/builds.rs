//! Attempts to publish, and their logs.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

#[tokio::test]
async fn a_failed_build_is_shown_with_its_log() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    let id = app.add_failed_build(&tool, "checkout: done\n\u{0}é\n").await;
    let build = app.get(&format!("/tool/{tool}/build/{id}")).await.json();
    for (name, value) in [
        ("id", json!(id)),
        ("tool_id", json!(tool)),
        ("state", json!("failed")),
        ("stage", json!("compile")),
        ("message", json!("tool.py:3: no")),
        ("log", json!("checkout: done\n\u{0}é\n")),
        ("creator", json!("ada")),
    ] {
        assert_eq!(build[name], value, "{name}");
    }
    assert!(build["started_at"].as_str() <= build["finished_at"].as_str(), "{build}");
}

#[tokio::test]
async fn running_and_succeeded_builds_are_shown() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    let lease = app.lease(&tool).await;
    let path = format!("/tool/{tool}/build/{}", lease.build);
    let build = app.get(&path).await.json();
    assert_eq!((&build["state"], &build["finished_at"]), (&json!("running"), &Value::Null));
    app.publish_under(&lease).await;
    let build = app.get(&path).await.json();
    assert_eq!((&build["state"], &build["version"]), (&json!("succeeded"), &json!("1.0.0")));
    assert_eq!(build["log"], "built\n");
}

#[tokio::test]
async fn the_build_of_another_tool_is_not_found() {
    let app = TestApp::start().await;
    let (tool, other) = (app.tool("search").await, app.tool("other").await);
    let id = app.add_failed_build(&tool, "made wrong").await;
    let foreign = app.get(&format!("/tool/{other}/build/{id}")).await;
    let unknown = app.get(&format!("/tool/{other}/build/{}", "f".repeat(24))).await;
    assert_eq!(foreign.refusal(), (404, "not_found".into()));
    assert_eq!(foreign.body, unknown.body);
    let malformed = app.get(&format!("/tool/{tool}/build/latest")).await;
    assert_eq!(malformed.status, StatusCode::UNPROCESSABLE_ENTITY);
}
