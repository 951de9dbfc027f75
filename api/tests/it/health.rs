//! Liveness and readiness.

use std::time::Duration;

use api::Config;
use registry::{Clock, Timestamp};

use crate::harness::{Answer, TestApp};

async fn ask_readiness(app: &TestApp) -> Answer {
    app.request("GET", "/health/ready").send().await
}

#[tokio::test]
async fn a_part_that_is_not_ready_is_named() {
    let app = TestApp::start().await;
    assert_eq!(ask_readiness(&app).await.json()["status"], "ready");
    app.app.readiness().lacks("language images", "their code is being compiled");
    let answer = ask_readiness(&app).await;
    assert_eq!(answer.refusal(), (503, "not_ready".to_owned()));
    assert_eq!(answer.json()["detail"], "Not ready: language images: their code is being compiled");
    assert!(answer.headers.contains_key("retry-after"));
    assert_eq!(app.request("GET", "/health/live").send().await.json()["status"], "live");
    app.app.readiness().has("language images");
    assert_eq!(ask_readiness(&app).await.status, 200);
}

#[tokio::test]
async fn a_database_that_cannot_be_written_is_named_within_a_second() {
    let clock = Clock::fixed(Timestamp::from_milliseconds(0));
    let app = TestApp::start_configured(Config::default(), clock.clone()).await;
    assert_eq!(ask_readiness(&app).await.status, 200);
    app.store.close().await;
    assert_eq!(ask_readiness(&app).await.status, 200, "it is not looked at for every question");
    clock.advance(Duration::from_secs(1));
    let answer = ask_readiness(&app).await;
    assert_eq!(answer.refusal(), (503, "not_ready".to_owned()));
    assert!(answer.json()["detail"].as_str().unwrap().contains("database"));
}
