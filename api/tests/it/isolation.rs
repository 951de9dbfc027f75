//! Objects of other organisations look like objects that do not exist, and permissions are checked before everything
//! else.

use axum::http::StatusCode;
use registry::OperationKind;
use serde_json::json;

use crate::fixtures;
use crate::harness::TestApp;

#[tokio::test]
async fn foreign_objects_answer_like_unknown_ones() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    app.version(&tool, &[]).await;
    let run = app.run("words", true).await;
    let build = app.add_failed_build(&tool, "made wrong").await;
    let operation = app.operation(OperationKind::Invoke).await;
    let (_, stranger) = fixtures::create_organization(&app.store, "other", "eve").await;
    let unknown = "f".repeat(24);
    let input = json!({
        "input_parameters": {}, "invocation_mode": "regular",
        "nonsensitive_user_variables": {}, "sensitive_user_variables": {}
    });
    let of_tool = format!("/tool/{tool}/build/ID");
    let cases = [
        ("POST", "/tool/ID", &tool, json!({"description": "mine"})),
        ("DELETE", "/tool/ID", &tool, json!(null)),
        ("POST", "/tool/ID/envvar", &tool, json!({"deletes": [{"name": "A"}]})),
        ("GET", "/tool/ID/version", &tool, json!(null)),
        ("GET", "/tool/ID/version/1.0.0", &tool, json!(null)),
        ("DELETE", "/tool/ID/version/1.0.0", &tool, json!(null)),
        ("POST", "/tool/ID/version/1.0.0/invoke", &tool, json!({"inputs": [input]})),
        ("GET", "/tool/invocation/ID", &run, json!(null)),
        ("GET", &of_tool, &build, json!(null)),
        ("GET", "/operation/ID", &operation, json!(null)),
    ];
    for (method, path, id, body) in cases {
        let mut answers = Vec::new();
        for id in [id, &unknown] {
            let request = app.request(method, &format!("/v1/other{}", path.replace("ID", id)));
            answers.push(request.header("authorization", &format!("Bearer {stranger}")).json(&body).await);
        }
        assert_eq!(answers[0].status, StatusCode::NOT_FOUND, "{method} {path}");
        assert_eq!(answers[0].body, answers[1].body, "{method} {path}");
        assert_eq!(answers[0].headers.len(), answers[1].headers.len(), "{method} {path}");
    }
}

#[tokio::test]
async fn a_foreign_organization_answers_like_an_unknown_one() {
    let app = TestApp::start().await;
    app.tool("search").await;
    let (_, stranger) = fixtures::create_organization(&app.store, "other", "eve").await;
    for token in [stranger.as_str(), "nonsense"] {
        let mut bodies = Vec::new();
        for organization in ["acme", "nobody", "not%20an%20id"] {
            let request = app.request("GET", &format!("/v1/{organization}/tool"));
            let answer = request.header("authorization", &format!("Bearer {token}")).send().await;
            assert!(!answer.status.is_success(), "{organization}");
            bodies.push((answer.status, answer.body));
        }
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[tokio::test]
async fn lists_and_searches_show_only_ones_own() {
    let app = TestApp::start().await;
    app.tool("search").await;
    app.run("words", true).await;
    let (_, stranger) = fixtures::create_organization(&app.store, "other", "eve").await;
    for path in
        ["/tool", "/tool/invocation", "/tool/invocation/search?query=words&query_against=invocation_status.output"]
    {
        let request = app.request("GET", &format!("/v1/other{path}"));
        let answer = request.header("authorization", &format!("Bearer {stranger}")).send().await;
        let body = answer.json();
        let list = body.get("tools").or(body.get("tool_invocations")).unwrap();
        assert_eq!((answer.status, list), (StatusCode::OK, &json!([])), "{path}");
    }
}
