//! The route table against the contract.

use std::collections::BTreeSet;

use api::{Route, list_routes};
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

/// Names of path parameters may differ; their positions may not.
fn strip_names(path: &str) -> String {
    let segments = path.trim_end_matches('/').split('/');
    segments.map(|segment| if segment.starts_with('{') { "{}" } else { segment }).collect::<Vec<_>>().join("/")
}

fn list_contract_operations() -> BTreeSet<(String, String)> {
    let paths: Value = serde_json::from_str(include_str!("../../../tests/contract/tool-paths.json")).unwrap();
    let mut operations = BTreeSet::new();
    for (path, methods) in paths.as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            operations.insert((method.to_uppercase(), strip_names(path)));
        }
    }
    operations
}

#[test]
fn every_operation_of_the_contract_has_a_route() {
    let served: BTreeSet<_> =
        list_routes().into_iter().map(|Route { method, path, .. }| (method.to_owned(), strip_names(path))).collect();
    let missing: Vec<_> =
        list_contract_operations().into_iter().filter(|operation| !served.contains(operation)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn every_route_that_is_not_public_asks_for_credentials() {
    let app = TestApp::start().await;
    for route in list_routes() {
        let path = route.path.replace("{organization}", "acme").replace("{*git_path}", "tools.git/info/refs");
        let path = path.replace("{tool_id}", &"a".repeat(24)).replace("{invocation_id}", &"b".repeat(24));
        let path = path.replace("{build_id}", &"c".repeat(24)).replace("{operation_id}", &"d".repeat(24));
        let path = path.replace("{download}", "not-signed");
        for path in [path.clone(), format!("{path}/")] {
            let answer = app.request(route.method, &path).send().await;
            // A sign-in without its headers is invalid; one with wrong ones is refused like the others.
            assert_eq!(answer.status == StatusCode::UNAUTHORIZED, route.permission.is_some(), "{path}");
            assert_eq!(answer.status == StatusCode::UNPROCESSABLE_ENTITY, path.contains("signin"), "{path}");
            assert!(answer.headers.contains_key("x-request-id"), "{path}");
            if answer.status == StatusCode::UNAUTHORIZED {
                let challenges: Vec<_> = answer.headers.get_all("www-authenticate").iter().collect();
                assert_eq!(challenges, [r#"Basic realm="lathe""#, r#"Bearer realm="lathe""#], "{path}");
            }
        }
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_answer_in_json() {
    let app = TestApp::start().await;
    let answer = app.request("GET", "/v1/acme/nothing/here").send().await;
    assert_eq!(
        (answer.status, answer.json()),
        (StatusCode::NOT_FOUND, json!({"detail": "Not found.", "code": "not_found"}))
    );
    let answer = app.request("PUT", "/v1/acme/tool/").send().await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.json()["code"], "method_not_allowed");
    let allowed: BTreeSet<_> =
        answer.headers["allow"].to_str().unwrap().split(',').map(str::trim).map(str::to_owned).collect();
    assert!(allowed.contains("GET") && allowed.contains("POST"), "{allowed:?}");
}

#[tokio::test]
async fn health_is_public() {
    let app = TestApp::start().await;
    assert_eq!(app.request("GET", "/health/live").send().await.status, StatusCode::OK);
    for path in ["/health/ready", "/health/ready/"] {
        // A server is not ready while its disk takes seconds for a write.
        let ready = async {
            while app.request("GET", path).send().await.status != StatusCode::OK {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_mins(1), ready).await.expect(path);
    }
}

#[tokio::test]
async fn the_scaffold_is_a_gzip_archive() {
    let app = TestApp::start().await;
    let answer = app.get("/tool/amigo_tool_scaffold.tar.gz").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["content-type"], "application/gzip");
    assert_eq!(answer.body[..2], [0x1f, 0x8b]);
}
