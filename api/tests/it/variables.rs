//! Variables of a tool: atomic changes and refusals.

use axum::http::StatusCode;
use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn only_the_names_of_variables_are_returned() {
    let app = TestApp::start().await;
    let path = format!("/tool/{}/envvar", app.tool("search").await);
    let inserts = json!([
        {"name": "API_URL", "value": "https://example.org", "is_secret": false},
        {"name": "API_KEY", "value": "hush", "is_secret": true}
    ]);
    assert_eq!(app.post(&path, &json!({"inserts": inserts})).await.status, StatusCode::NO_CONTENT);
    let answer = app.get("/tool").await;
    let tool = &answer.json()["tools"][0];
    assert_eq!((&tool["envvars"], &tool["secret_envvars"]), (&json!(["API_URL"]), &json!(["API_KEY"])));
    assert!(!String::from_utf8_lossy(&answer.body).contains("hush"));
    let changes = json!({"updates": [{"name": "API_KEY", "value": "x"}], "deletes": [{"name": "API_URL"}]});
    assert_eq!(app.post(&path, &changes).await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.get("/tool").await.json()["tools"][0]["envvars"], json!([]));
}

#[tokio::test]
async fn refusals_change_nothing() {
    let app = TestApp::start().await;
    let path = format!("/tool/{}/envvar", app.tool("search").await);
    let insert = |name: &str| json!({"name": name, "value": "v", "is_secret": false});
    app.post(&path, &json!({"inserts": [insert("ONE")]})).await;
    for (changes, refusal) in [
        (json!({"inserts": [insert("TWO"), insert("ONE")]}), (409, "already_exists")),
        (json!({"inserts": [insert("TWO")], "deletes": [{"name": "NONE"}]}), (400, "variable_unknown")),
        (json!({"inserts": [insert("TWO")], "updates": [{"name": "NONE", "value": "v"}]}), (400, "variable_unknown")),
        (json!({"inserts": [insert("TWO"), insert("lower")]}), (422, "request_invalid")),
        (json!({"inserts": [{"name": "TWO", "value": 1, "is_secret": false}]}), (422, "request_invalid")),
    ] {
        let (status, code) = app.post(&path, &changes).await.refusal();
        assert_eq!((status, code.as_str()), refusal, "{changes}");
    }
    assert_eq!(app.get("/tool").await.json()["tools"][0]["envvars"], json!(["ONE"]));
}

#[tokio::test]
async fn a_variable_that_a_live_version_requires_stays() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    let path = format!("/tool/{tool}/envvar");
    app.post(&path, &json!({"inserts": [{"name": "API_KEY", "value": "v", "is_secret": true}]})).await;
    app.version(&tool, &["API_KEY"]).await;
    let answer = app.post(&path, &json!({"deletes": [{"name": "API_KEY"}]})).await;
    assert_eq!(answer.refusal(), (400, "variable_required".into()));
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("API_KEY") && detail.contains("1.0.0"), "{detail}");
}
