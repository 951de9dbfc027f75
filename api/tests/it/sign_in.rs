//! Credentials: sign-in, and the forms of a token in requests.

use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::harness::{Answer, TestApp};

async fn sign_in(app: &TestApp, organization: &str, key: [&str; 3]) -> Answer {
    let request = app.request("POST", &format!("/v1/{organization}/user/signin_with_api_key"));
    let [key_id, key, user] = key;
    request.header("x-api-key-id", key_id).header("x-api-key", key).header("x-user-id", user).send().await
}

#[tokio::test]
async fn a_key_is_exchanged_for_a_token() {
    let app = TestApp::start().await;
    let answer = sign_in(&app, "acme", [&app.key.api_key_id, app.key.api_key.expose(), "ada"]).await;
    assert_eq!(answer.status, StatusCode::OK);
    let expires_at = answer.json()["expires_at"].as_str().unwrap().to_owned();
    assert!(expires_at.ends_with('Z'), "{expires_at}");
    let token = answer.json()["id_token"].as_str().unwrap().to_owned();
    let answer = app.request("GET", "/v1/acme/tool/").header("authorization", &format!("Bearer {token}")).send().await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn wrong_credentials_are_refused_without_naming_the_wrong_part() {
    let app = TestApp::start().await;
    let (id, key) = (app.key.api_key_id.clone(), app.key.api_key.expose().to_owned());
    let wrong = [[&id, "lk_wrong", "ada"], ["lk_wrong", &key, "ada"], [&id, &key, "eve"], ["", "", ""]];
    let mut bodies = Vec::new();
    for parts in wrong {
        let answer = sign_in(&app, "acme", parts).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{parts:?}");
        bodies.push(answer.body);
    }
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(sign_in(&app, "nobody", [&id, &key, "ada"]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn headers_that_are_missing_are_named() {
    let app = TestApp::start().await;
    let sign_in = |path: &'static str| app.request("POST", path).header("x-api-key", "k").send();
    for path in ["/v1/acme/user/signin_with_api_key", "/v1/nobody/user/signin_with_api_key"] {
        let answer = sign_in(path).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        let problem = |name| json!({"loc": ["header", name], "msg": "Field required", "type": "missing"});
        assert_eq!(answer.json()["detail"], json!([problem("x-api-key-id"), problem("x-user-id")]));
    }
}

#[tokio::test]
async fn basic_credentials_have_organization_and_user() {
    let app = TestApp::start().await;
    for (name, expected) in [
        ("acme_ada", StatusCode::OK),
        ("ada", StatusCode::OK),
        ("acme_eve", StatusCode::UNAUTHORIZED),
        ("eve", StatusCode::UNAUTHORIZED),
        ("other_ada", StatusCode::UNAUTHORIZED),
        ("", StatusCode::UNAUTHORIZED),
    ] {
        let credentials = STANDARD.encode(format!("{name}:{}", app.token));
        let request = app.request("GET", "/v1/acme/tool").header("authorization", &format!("Basic {credentials}"));
        assert_eq!(request.send().await.status, expected, "{name}");
    }
}

#[tokio::test]
async fn a_key_is_a_password_of_basic_and_a_bearer() {
    let app = TestApp::start().await;
    let key = app.key.api_key.expose();
    let basic = |name: &str| format!("Basic {}", STANDARD.encode(format!("{name}:{key}")));
    for (authorization, expected) in [
        (basic("acme_ada"), StatusCode::OK),
        (basic("ada"), StatusCode::OK),
        (basic("eve"), StatusCode::UNAUTHORIZED),
        (basic(""), StatusCode::UNAUTHORIZED),
        (format!("Bearer {key}"), StatusCode::OK),
    ] {
        let status =
            async |path: &str| app.request("GET", path).header("authorization", &authorization).send().await.status;
        assert_eq!(status("/v1/acme/tool").await, expected, "{authorization}");
        let foreign = if expected == StatusCode::OK { StatusCode::NOT_FOUND } else { expected };
        assert_eq!(status("/v1/other/tool").await, foreign, "{authorization}");
    }
}

#[tokio::test]
async fn unknown_headers_are_ignored() {
    let app = TestApp::start().await;
    let request =
        app.request_signed("GET", "/tool").header("x-mongo-cluster-name", "c1").header("x-amigo-application", "a");
    let request = request.header("sec-websocket-protocol", "x").header("x-org-id", "acme");
    assert_eq!(request.send().await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_request_id_of_the_caller_is_not_used() {
    let app = TestApp::start().await;
    let answer = app.request_signed("GET", "/tool").header("x-request-id", "mine").send().await;
    assert_ne!(answer.headers["x-request-id"], "mine");
}
