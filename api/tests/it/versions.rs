//! Listing, showing and deprecating versions.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

const LIST: &str = "src__app__endpoints__tool__get_tool_versions__Response";

fn minors(list: &Value) -> Vec<u64> {
    list["tool_versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"]["minor"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn versions_are_listed_in_the_contracts_shape() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    app.version(&tool, &[]).await;
    let list = app.get(&format!("/tool/{tool}/version")).await.check_shape(LIST);
    let version = &list["tool_versions"][0];
    assert_eq!(version["version"], json!({"major": 1, "minor": 0, "patch": 0}));
    assert_eq!((&version["lambda_version"], &version["tool_id"]), (&json!(1), &json!(tool)));
    assert_eq!(version["creator"], json!({"user_id": "ada", "user_org_id": "acme"}));
    assert_eq!(list["filter_values"], json!({"creators": [{"user_id": "ada", "user_org_id": "acme"}]}));
}

#[tokio::test]
async fn filters_and_pages_narrow_the_list() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    for _ in 0..3 {
        app.version(&tool, &[]).await;
    }
    for (query, expected) in [
        ("sort_by=%2Bversion.minor", vec![0, 1, 2]),
        ("sort_by=-version.minor", vec![2, 1, 0]),
        ("sort_by=+version.minor&versions=%3E%3D1.1%2C%3C2", vec![1, 2]),
        ("creator=acme,ada&sort_by=+created_at&limit=1&versions=1.2.0", vec![2]),
        ("creator=acme,eve", vec![]),
        ("creator=other,ada", vec![]),
        ("creator=acme,ada&creator=acme,eve&sort_by=%2Bversion.minor", vec![0, 1, 2]),
        ("deprecated=true", vec![]),
    ] {
        let list = app.get(&format!("/tool/{tool}/version?{query}")).await.check_shape(LIST);
        assert_eq!(minors(&list), expected, "{query}");
    }
    let path = format!("/tool/{tool}/version?sort_by=+version.minor&limit=1");
    let token = app.get(&path).await.json()["continuation_token"].clone();
    assert_eq!(minors(&app.get(&format!("{path}&continuation_token={token}")).await.check_shape(LIST)), [1]);
}

#[tokio::test]
async fn a_version_can_be_shown_with_its_digests_and_log() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    app.version(&tool, &[]).await;
    let answer = app.get(&format!("/tool/{tool}/version/1.0.0/")).await;
    let version = answer.check_shape("ToolVersionInstance");
    assert!(version["component_digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(version["build_log"], "built\n");
    assert_eq!(app.get(&format!("/tool/{tool}/version/9.0.0")).await.refusal(), (404, "not_found".into()));
    assert_eq!(app.get(&format!("/tool/{tool}/version/latest")).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn matching_versions_are_deprecated() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    app.version(&tool, &[]).await;
    app.version(&tool, &[]).await;
    let path = format!("/tool/{tool}/version");
    assert_eq!(app.delete(&format!("{path}/%3E%3D1.0%2C%3C1.1")).await.status, StatusCode::NO_CONTENT);
    assert_eq!(minors(&app.get(&format!("{path}?deprecated=true")).await.json()), [0]);
    assert_eq!(app.delete(&format!("{path}/1.0.0")).await.refusal(), (404, "not_found".into()));
    assert_eq!(app.delete(&format!("{path}/nonsense")).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_conflict_names_the_running_operation() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    app.version(&tool, &[]).await;
    let _lease = app.lease(&tool).await;
    for path in [format!("/tool/{tool}/version/1.0.0"), format!("/tool/{tool}")] {
        let answer = app.delete(&path).await;
        assert_eq!(answer.refusal(), (409, "operation_in_progress".into()));
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("publication") && detail.contains('Z'), "{detail}");
    }
}
