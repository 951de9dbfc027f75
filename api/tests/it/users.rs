//! Users over HTTP: listing, adding, changing roles, removing.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::fixtures;
use crate::harness::TestApp;

#[tokio::test]
async fn users_are_added_changed_and_removed() {
    let app = TestApp::start().await;
    let added = app.post("/user", &json!({"user_id": "bob", "role": "author"})).await;
    assert_eq!((added.status, added.json()), (StatusCode::CREATED, json!({"user_id": "bob"})));
    let shown = app.get("/user/bob").await.json();
    assert_eq!(
        (&shown["user_id"], &shown["org_id"], &shown["role"]),
        (&json!("bob"), &json!("acme"), &json!("author"))
    );
    assert!(shown["created_at"].as_str().unwrap().ends_with('Z'), "{shown}");
    assert_eq!(app.post("/user/bob/", &json!({"role": "auditor"})).await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.get("/user/bob").await.json()["role"], "auditor");
    let first = app.get("/user?limit=1").await.json();
    assert_eq!((&first["users"][0]["user_id"], &first["has_more"]), (&json!("ada"), &json!(true)));
    let rest = app.get(&format!("/user?limit=1&continuation_token={}", first["continuation_token"])).await.json();
    assert_eq!((&rest["users"][0]["user_id"], &rest["has_more"]), (&json!("bob"), &json!(false)));
    assert_eq!(rest["continuation_token"], Value::Null);
    assert_eq!(app.delete("/user/bob").await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.get("/user/bob").await.refusal(), (404, "not_found".into()));
}

#[tokio::test]
async fn invalid_users_are_refused_with_the_reason() {
    let app = TestApp::start().await;
    for (body, refusal) in [
        (json!({"user_id": "ada", "role": "author"}), (409, "already_exists")),
        (json!({"user_id": "bob", "role": "baker"}), (400, "role_unknown")),
        (json!({"user_id": "bob", "role": "No Role"}), (422, "request_invalid")),
        (json!({"user_id": "with space", "role": "author"}), (422, "request_invalid")),
        (json!({"user_id": "me", "role": "author"}), (422, "request_invalid")),
        (json!({"user_id": "..", "role": "author"}), (422, "request_invalid")),
        (json!({"user_id": "bob"}), (422, "request_invalid")),
    ] {
        let (status, code) = app.post("/user", &body).await.refusal();
        assert_eq!((status, code.as_str()), refusal, "{body}");
    }
    assert_eq!(app.get("/user").await.json()["users"].as_array().unwrap().len(), 1);
    assert_eq!(app.post("/user/nobody", &json!({"role": "author"})).await.refusal(), (404, "not_found".into()));
    assert_eq!(app.get("/user/with%20space").await.refusal(), (422, "request_invalid".into()));
    assert_eq!(app.get("/user?limit=101").await.refusal(), (422, "request_invalid".into()));
}

#[tokio::test]
async fn the_last_administrator_cannot_be_removed() {
    let app = TestApp::start().await;
    for answer in [app.delete("/user/ada").await, app.post("/user/ada", &json!({"role": "author"})).await] {
        assert_eq!(answer.refusal(), (409, "last_administrator".into()));
    }
    app.member("bob", "admin").await;
    assert_eq!(app.delete("/user/ada").await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.get("/user").await.refusal(), (401, "unauthenticated".into()));
}

#[tokio::test]
async fn a_new_role_applies_from_the_next_request_on() {
    let app = TestApp::start().await;
    let bob = app.member("bob", "author").await;
    assert_eq!(app.request_signed_as(&bob, "GET", "/tool").send().await.status, StatusCode::OK);
    assert_eq!(app.request_signed_as(&bob, "GET", "/user").send().await.refusal(), (403, "permission_missing".into()));
    app.post("/user/bob", &json!({"role": "admin"})).await;
    assert_eq!(app.request_signed_as(&bob, "GET", "/user").send().await.status, StatusCode::OK);
    app.delete("/user/bob").await;
    assert_eq!(app.request_signed_as(&bob, "GET", "/tool").send().await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn every_user_may_see_themselves() {
    let app = TestApp::start().await;
    let bob = app.member("bob", "invoker").await;
    let me = app.request_signed_as(&bob, "GET", "/user/me").send().await.json();
    let grant = |permission: &str| json!({"permission": permission, "conditions": []});
    let permissions = [grant("Tool:InvokeTool"), grant("Tool:GetTool"), grant("Agent:GetAgent")];
    assert_eq!(me, json!({"user_id": "bob", "org_id": "acme", "role": "invoker", "permissions": permissions}));
    let (_, stranger) = fixtures::create_organization(&app.store, "other", "eve").await;
    assert_eq!(app.request_signed_as(&stranger, "GET", "/user/me").send().await.refusal(), (404, "not_found".into()));
}
