//! API keys over HTTP: administrators manage all keys, every user their own.

use std::time::Duration;

use api::Config;
use axum::http::StatusCode;
use registry::{Clock, Timestamp};
use serde_json::{Value, json};

use crate::fixtures;
use crate::harness::{Answer, TestApp};

async fn sign_in(app: &TestApp, key: &Value) -> Answer {
    let text = |name: &str| key[name].as_str().unwrap();
    let request = app.request("POST", "/v1/acme/user/signin_with_api_key").header("x-user-id", text("user_id"));
    request.header("x-api-key-id", text("api_key_id")).header("x-api-key", text("api_key")).send().await
}

async fn issue_token(app: &TestApp, key: &Value) -> String {
    sign_in(app, key).await.json()["id_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_administrator_creates_lists_and_revokes_keys() {
    let app = TestApp::start().await;
    app.post("/user", &json!({"user_id": "bob", "role": "author"})).await;
    let made = app.post("/api_key", &json!({"user_id": "bob", "name": "ci", "expires_in": 3600})).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let key = made.json();
    let token = issue_token(&app, &key).await;
    assert_eq!(app.request_signed_as(&token, "GET", "/user/me").send().await.json()["user_id"], "bob");
    let answer = app.get("/api_key?user_id=bob").await;
    assert!(!String::from_utf8_lossy(&answer.body).contains(key["api_key"].as_str().unwrap()));
    let shown = &answer.json()["api_keys"][0];
    assert_eq!((&shown["api_key_id"], &shown["name"]), (&key["api_key_id"], &json!("ci")));
    assert!(key["api_key"].as_str().unwrap().starts_with(shown["prefix"].as_str().unwrap()), "{shown}");
    assert_eq!((&shown["expires_at"], &shown["revoked_at"]), (&key["expires_at"], &Value::Null));
    assert!(shown["last_used_at"].as_str().unwrap().ends_with(":00:00.000Z"), "to the hour: {shown}");
    assert_eq!(app.get("/api_key").await.json()["api_keys"].as_array().unwrap().len(), 2);
    let path = format!("/api_key/{}", key["api_key_id"].as_str().unwrap());
    assert_eq!(app.delete(&path).await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.request_signed_as(&token, "GET", "/user/me").send().await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(sign_in(&app, &key).await.refusal(), (401, "unauthenticated".into()));
    assert!(app.get("/api_key?user_id=bob").await.json()["api_keys"][0]["revoked_at"].is_string());
}

#[tokio::test]
async fn users_manage_their_own_keys_only() {
    let app = TestApp::start().await;
    let bob = app.member("bob", "auditor").await;
    let made = app.request_signed_as(&bob, "POST", "/user/me/api_key").json(&json!({"name": "laptop"})).await;
    assert_eq!((made.status, &made.json()["user_id"]), (StatusCode::CREATED, &json!("bob")));
    let list = app.request_signed_as(&bob, "GET", "/user/me/api_key").send().await.json();
    let owners: Vec<&Value> = list["api_keys"].as_array().unwrap().iter().map(|key| &key["user_id"]).collect();
    assert_eq!(owners, ["bob", "bob"]);
    for (method, path) in [("GET", "/api_key"), ("POST", "/api_key"), ("DELETE", "/api_key/aaaaaaaaaaaa")] {
        let answer = app.request_signed_as(&bob, method, path).json(&json!({"user_id": "bob"})).await;
        assert_eq!(answer.refusal(), (403, "permission_missing".into()), "{method} {path}");
        assert!(answer.json()["detail"].as_str().unwrap().contains("Organization:Admin"));
    }
    // Another user's key is reported as not found.
    let others =
        app.request_signed_as(&bob, "DELETE", &format!("/user/me/api_key/{}", app.key.api_key_id)).send().await;
    let unknown = app.request_signed_as(&bob, "DELETE", "/user/me/api_key/aaaaaaaaaaaa").send().await;
    assert_eq!((others.status, &others.body), (StatusCode::NOT_FOUND, &unknown.body));
    assert!(fixtures::issue_token(&app.store, &app.key).await.is_some());
    let own = format!("/user/me/api_key/{}", made.json()["api_key_id"].as_str().unwrap());
    assert_eq!(app.request_signed_as(&bob, "DELETE", &own).send().await.status, StatusCode::NO_CONTENT);
    assert_eq!(sign_in(&app, &made.json()).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_key_cannot_create_a_key_that_outlives_it() {
    let app = TestApp::start().await;
    let parent = app.post("/api_key", &json!({"user_id": "ada", "expires_in": 3600})).await.json();
    let token = issue_token(&app, &parent).await;
    for (asked, is_earlier) in
        [(json!({}), false), (json!({"expires_in": 7200}), false), (json!({"expires_in": 60}), true)]
    {
        let child = app.request_signed_as(&token, "POST", "/user/me/api_key").json(&asked).await.json();
        assert_eq!(child["expires_at"] != parent["expires_at"], is_earlier, "{asked}: {child}");
        assert!(child["expires_at"].is_string());
    }
    let own = app.request_signed("POST", "/user/me/api_key").json(&json!({})).await.json();
    assert_eq!(own["expires_at"], Value::Null);
}

#[tokio::test]
async fn invalid_keys_are_refused() {
    let app = TestApp::start().await;
    for (body, refusal) in [
        (json!({"user_id": "nobody"}), (400, "user_unknown")),
        (json!({"user_id": "ada", "expires_at": "2001-01-01T00:00:00Z"}), (400, "invalid_value")),
        (json!({"user_id": "ada", "expires_at": "9001-01-01T00:00:00Z"}), (400, "invalid_value")),
        (json!({"user_id": "ada", "expires_at": "2040-01-01T00:00:00"}), (422, "request_invalid")),
        (json!({"user_id": "ada", "expires_at": "soon"}), (422, "request_invalid")),
        (json!({"user_id": "ada", "expires_in": 0}), (422, "request_invalid")),
        (json!({"user_id": "ada", "expires_in": 1.5}), (422, "request_invalid")),
        (json!({"user_id": "ada", "expires_in": 9_999_999_999_u64}), (422, "request_invalid")),
        (json!({"user_id": "ada", "expires_in": 60, "expires_at": "2040-01-01T00:00:00Z"}), (422, "request_invalid")),
        (json!({"user_id": "ada", "name": "two\nlines"}), (422, "request_invalid")),
        (json!({}), (422, "request_invalid")),
    ] {
        let (status, code) = app.post("/api_key", &body).await.refusal();
        assert_eq!((status, code.as_str()), refusal, "{body}");
    }
    assert_eq!(app.get("/api_key").await.json()["api_keys"].as_array().unwrap().len(), 1);
    assert_eq!(app.delete("/api_key/short").await.refusal(), (422, "request_invalid".into()));
    assert_eq!(app.delete("/api_key/aaaaaaaaaaaa").await.refusal(), (404, "not_found".into()));
}

#[tokio::test]
async fn only_the_holder_of_a_whole_key_learns_that_it_ended() {
    let clock = Clock::fixed(Timestamp::from_milliseconds(1_700_000_000_000));
    let app = TestApp::start_configured(Config::default(), clock.clone()).await;
    let key = app.post("/api_key", &json!({"user_id": "ada"})).await.json();
    let mut answers = Vec::new();
    for change in ["lk_wrong", "", &format!("{}x", key["api_key"].as_str().unwrap())] {
        let mut wrong = key.clone();
        wrong["api_key"] = json!(change);
        answers.push(sign_in(&app, &wrong).await);
    }
    let last = if key["api_key"].as_str().unwrap().ends_with('0') { "1" } else { "0" };
    let mistyped = |key: &Value| {
        let text = key["api_key"].as_str().unwrap();
        json!({"user_id": "ada", "api_key_id": key["api_key_id"], "api_key": format!("{}{last}", &text[..text.len() - 1])})
    };
    app.delete(&format!("/api_key/{}", key["api_key_id"].as_str().unwrap())).await;
    answers.push(sign_in(&app, &mistyped(&key)).await);
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (StatusCode::UNAUTHORIZED, &answers[0].body));
    }
    let detail = |answer: &Answer| {
        assert_eq!(answer.refusal(), (401, "unauthenticated".into()));
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    let revoked = detail(&sign_in(&app, &key).await);
    assert!(revoked.starts_with("The API key was revoked at ") && revoked.contains("`lathe key create`"), "{revoked}");
    let short = app.post("/api_key", &json!({"user_id": "ada", "expires_in": 60})).await.json();
    clock.advance(Duration::from_secs(61));
    let expired = detail(&sign_in(&app, &short).await);
    assert!(expired.starts_with("The API key expired at ") && expired.contains("`lathe key create`"), "{expired}");
    assert_eq!(sign_in(&app, &mistyped(&short)).await.body, answers[0].body);
}
