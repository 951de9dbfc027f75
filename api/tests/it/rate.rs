//! Rate limits over HTTP: the requests that count, the users that they count for, and the headers of the answers.

use std::time::Duration;

use api::{Config, RateLimits};
use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use registry::{ApiKeyId, Clock, Timestamp};
use serde_json::json;

use crate::fixtures;
use crate::harness::{Answer, TestApp};

/// 2026-01-01T00:00:00Z
const START_S: i64 = 1_767_225_600;

async fn start_limited(rate_limits: RateLimits) -> (TestApp, Clock) {
    let clock = Clock::fixed(Timestamp::from_milliseconds(START_S * 1_000));
    let config = Config { rate_limits, ..Config::default() };
    (TestApp::start_configured(config, clock.clone()).await, clock)
}

/// The limit, the remaining requests, the seconds until all are there again, and `Retry-After`.
fn read_headers(answer: &Answer) -> (i64, i64, i64, Option<i64>) {
    let number = |name: &str| answer.headers.get(name).map(|value| value.to_str().unwrap().parse::<i64>().unwrap());
    let reset = number("x-ratelimit-reset").expect("a reset");
    let (limit, remaining) = (number("x-ratelimit-limit").unwrap(), number("x-ratelimit-remaining").unwrap());
    (limit, remaining, reset - START_S, number("retry-after"))
}

#[tokio::test]
async fn as_many_requests_as_the_contract_says_are_admitted() {
    let (app, clock) = start_limited(RateLimits::contract()).await;
    for number in 0..20 {
        let tool = json!({"name": format!("tool_{number}"), "description": "A tool.", "tags": {}});
        let answer = app.post("/tool", &tool).await;
        assert_eq!(answer.status, 201);
        assert_eq!(read_headers(&answer), (20, 19 - number, 3 * (number + 1), None));
    }
    let answer = app.post("/tool", &json!({})).await;
    assert_eq!(answer.refusal(), (429, "rate_limited".to_owned()));
    assert_eq!(read_headers(&answer), (20, 0, 60, Some(3)));
    assert_eq!(app.get("/tool").await.status, 200, "another operation");
    clock.advance(Duration::from_secs(3));
    let answer = app.post("/tool", &json!({})).await;
    assert_eq!(answer.refusal(), (422, "request_invalid".to_owned()), "an invalid request counts, too");
    assert_eq!(read_headers(&answer), (20, 0, 63, None));
    assert_eq!(app.post("/tool", &json!({})).await.status, 429);
}

#[tokio::test]
async fn users_are_counted_apart() {
    let (app, _) = start_limited(RateLimits::off().with("get-tools", 1)).await;
    let (_, token) = fixtures::create_organization(&app.store, "other", "ada").await;
    let other = || app.request("GET", "/v1/other/tool").header("authorization", &format!("Bearer {token}")).send();
    assert_eq!(app.get("/tool").await.status, 200);
    assert_eq!(app.get("/tool/").await.status, 429, "both forms of a path are one operation");
    assert_eq!(other().await.status, 200);
    assert_eq!(other().await.status, 429);
}

#[tokio::test]
async fn a_request_without_credentials_does_not_count() {
    let (app, _) = start_limited(RateLimits::off().with("get-tools", 1)).await;
    for _ in 0..3 {
        let answer = app.request("GET", "/v1/acme/tool").send().await;
        assert_eq!(answer.status, 401);
        assert!(!answer.headers.contains_key("x-ratelimit-limit"));
    }
    assert_eq!(app.get("/tool").await.status, 200);
}

#[tokio::test]
async fn signing_in_is_counted_by_the_names_in_the_request() {
    let (app, _) = start_limited(RateLimits::contract()).await;
    let sign_in = |user: &'static str| {
        let request = app.request("POST", "/v1/acme/user/signin_with_api_key").header("x-user-id", user);
        request.header("x-api-key-id", "none").header("x-api-key", "none").send()
    };
    for _ in 0..5 {
        assert_eq!(sign_in("ada").await.status, 401);
    }
    assert_eq!(sign_in("ada").await.refusal(), (429, "rate_limited".to_owned()));
    assert_eq!(sign_in("bob").await.status, 401);
}

#[tokio::test]
async fn wrong_sign_ins_of_others_refuse_no_right_key() {
    let (app, clock) = start_limited(RateLimits::contract()).await;
    let (id, right) = (app.key.api_key_id.clone(), app.key.api_key.expose().to_owned());
    let sign_in = async |key: &str| {
        let request = app.request("POST", "/v1/acme/user/signin_with_api_key").header("x-user-id", "ada");
        request.header("x-api-key-id", &id).header("x-api-key", key).send().await
    };
    for number in 0..5 {
        let answer = sign_in("wrong").await;
        assert_eq!((answer.status.as_u16(), read_headers(&answer)), (401, (5, 4 - number, 12 * (number + 1), None)));
    }
    assert_eq!(sign_in("wrong").await.refusal(), (429, "rate_limited".to_owned()));
    for number in 0..5 {
        let answer = sign_in(&right).await;
        assert_eq!((answer.status.as_u16(), read_headers(&answer)), (200, (5, 4 - number, 12 * (number + 1), None)));
    }
    let answer = sign_in(&right).await;
    assert_eq!(answer.refusal(), (429, "rate_limited".to_owned()), "its own sign-ins are used up");
    assert_eq!(read_headers(&answer), (5, 0, 60, Some(12)));
    clock.advance(Duration::from_secs(12));
    assert_eq!(sign_in(&right).await.status, 200);
}

/// Two sign-ins a minute.
#[tokio::test]
async fn a_key_in_a_request_counts_as_a_sign_in() {
    let (app, clock) = start_limited(RateLimits::off().with("sign-in-with-api-key", 2)).await;
    let right = app.key.api_key.expose();
    let wrong = ApiKeyId::parse(&app.key.api_key_id).unwrap().make_key(&"a".repeat(43));
    let wrong = wrong.expose();
    let ask = async |key: &str| {
        let basic = STANDARD.encode(format!("acme_ada:{key}"));
        app.request("GET", "/v1/acme/tool").header("authorization", &format!("Basic {basic}")).send().await
    };
    for _ in 0..5 {
        assert_eq!(ask(right).await.status, 200, "a right key counts once a minute");
    }
    let sign_in = async |key: &str| {
        let request = app.request("POST", "/v1/acme/user/signin_with_api_key").header("x-user-id", "ada");
        request.header("x-api-key-id", &app.key.api_key_id).header("x-api-key", key).send().await.status
    };
    assert_eq!((ask(wrong).await.status, sign_in("wrong").await), (StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED));
    assert_eq!(ask(wrong).await.refusal(), (429, "rate_limited".to_owned()), "both ways have one limit");
    assert_eq!((sign_in(right).await, sign_in(right).await), (StatusCode::OK, StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(ask(right).await.status, 200);
    clock.advance(Duration::from_mins(1));
    assert_eq!(
        (ask(wrong).await.status, ask(wrong).await.status),
        (StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED)
    );
    assert_eq!(ask(right).await.status, 200, "a right key is not refused for the mistakes of others");
    assert_eq!(app.get("/tool").await.status, 200, "a token is not counted");
}

#[tokio::test]
async fn rate_limits_are_off_by_default() {
    let app = TestApp::start().await;
    for _ in 0..60 {
        let answer = app.get("/tool").await;
        assert_eq!(answer.status, 200);
        assert!(!answer.headers.contains_key("x-ratelimit-limit"));
    }
}
