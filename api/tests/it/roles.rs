//! Roles over HTTP.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

fn build_condition(key: &str, operator: &str, value: &str) -> Value {
    json!({"key": key, "operator": operator, "value": value})
}

#[tokio::test]
async fn a_role_is_returned_as_written() {
    let app = TestApp::start().await;
    let grants = json!([
        {"permission": "Tool:InvokeTool", "conditions": [
            build_condition("tool_name", "startsWith", "search_"), build_condition("tag.team", "regex", "^(red|blue)$")
        ]},
        {"permission": "Tool:GetTool", "conditions": []}
    ]);
    let created = app.post("/role", &json!({"name": "searcher", "grants": grants})).await;
    assert_eq!((created.status, created.json()), (StatusCode::CREATED, json!({"name": "searcher"})));
    let shown = app.get("/role/searcher").await.json();
    assert_eq!((&shown["grants"], &shown["built_in"]), (&grants, &json!(false)));
    let changed = json!({"grants": [{"permission": "Tool:TestTool"}]});
    assert_eq!(app.post("/role/searcher", &changed).await.status, StatusCode::NO_CONTENT);
    let list = app.get("/role").await.json();
    let names: Vec<&str> = list["roles"].as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["admin", "author", "invoker", "auditor", "searcher"]);
    assert_eq!(list["roles"][4]["grants"], json!([{"permission": "Tool:TestTool", "conditions": []}]));
    assert_eq!((&list["roles"][0]["built_in"], &list["roles"][0]["created_at"]), (&json!(true), &Value::Null));
    assert_eq!(app.delete("/role/searcher").await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.get("/role/searcher").await.refusal(), (404, "not_found".into()));
}

#[tokio::test]
async fn invalid_roles_are_refused_with_the_location() {
    let app = TestApp::start().await;
    let invoke = |conditions: Value| json!([{"permission": "Tool:InvokeTool", "conditions": conditions}]);
    let grant = |permission: &str| json!([{"permission": permission}]);
    let name = || build_condition("tool_name", "equal", "x");
    for (grants, place) in [
        (json!({}), "body.grants"),
        (json!(vec![&grant("Tool:GetTool")[0]; 51]), "body.grants"),
        (grant("Tool:Everything"), "body.grants.0.permission"),
        (grant("User:Self"), "body.grants.0.permission"),
        (invoke(json!(vec![name(); 11])), "body.grants.0.conditions"),
        (invoke(json!([build_condition("name", "equal", "x")])), "body.grants.0.conditions.0"),
        (invoke(json!([build_condition("tool_name", "like", "x")])), "body.grants.0.conditions.0"),
        (invoke(json!([build_condition("tool_name", "regex", "(")])), "body.grants.0.conditions.0"),
        (invoke(json!([build_condition("tool_name", "regex", "a{99999}")])), "body.grants.0.conditions.0"),
        (invoke(json!([build_condition("tool_name", "equal", &"x".repeat(257))])), "body.grants.0.conditions.0"),
        (invoke(json!([{"key": "tool_name", "operator": "equal"}])), "body.grants.0.conditions.0.value"),
        (json!([{"permission": "Tool:CreateTool", "conditions": [name()]}]), "body.grants.0.conditions"),
        (json!([{"permission": "Organization:Admin", "conditions": [name()]}]), "body.grants.0.conditions"),
    ] {
        let answer = app.post("/role", &json!({"name": "searcher", "grants": grants})).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{grants}");
        let body = answer.check_shape("HTTPValidationError");
        let steps = body["detail"][0]["loc"].as_array().unwrap().iter();
        let steps: Vec<String> = steps.map(|s| s.as_str().map_or_else(|| s.to_string(), str::to_owned)).collect();
        assert_eq!(steps.join("."), place, "{grants}");
    }
}

#[tokio::test]
async fn names_in_use_and_built_in_roles_cannot_be_changed() {
    let app = TestApp::start().await;
    let empty = |name: &str| json!({"name": name, "grants": []});
    app.post("/role", &empty("baker")).await;
    app.post("/user", &json!({"user_id": "bob", "role": "baker"})).await;
    let refusals = [
        app.post("/role", &empty("baker")).await.refusal(),
        app.post("/role", &empty("admin")).await.refusal(),
        app.post("/role/admin", &json!({"grants": []})).await.refusal(),
        app.delete("/role/admin").await.refusal(),
        app.delete("/role/baker").await.refusal(),
        app.delete("/role/nothing").await.refusal(),
    ];
    let codes = refusals.map(|(status, code)| format!("{status} {code}"));
    let expected = [
        "409 already_exists",
        "409 already_exists",
        "400 role_built_in",
        "400 role_built_in",
        "409 role_in_use",
        "404 not_found",
    ];
    assert_eq!(codes, expected);
}
