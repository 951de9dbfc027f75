//! The HTTP reference: the pages load everything from this server.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::Value;

use crate::harness::{Answer, TestApp};

async fn get(app: &TestApp, path: &str, content_type: &str) -> Answer {
    let answer = app.request("GET", path).send().await;
    assert_eq!(answer.status, StatusCode::OK, "{path}");
    assert_eq!(answer.headers["content-type"], content_type, "{path}");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
    let policy = answer.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none';"), "{path}: {policy}");
    assert!(!policy.contains("unsafe-eval") && !policy.contains('*') && !policy.contains("http"), "{path}: {policy}");
    answer
}

fn text(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.body).unwrap()
}

/// The values of an attribute.
fn find_values(page: &str, attribute: &str) -> Vec<String> {
    let before = format!(" {attribute}=\"");
    let found = page.split(&before).skip(1);
    found.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_load_everything_from_the_server() {
    let app = TestApp::start().await;
    for path in ["/docs", "/docs/", "/docs/errors"] {
        let page = get(&app, path, "text/html; charset=utf-8").await;
        let named = [find_values(text(&page), "src"), find_values(text(&page), "href")].concat();
        assert!(named.len() > 2, "{path}: {named:?}");
        for address in named.iter().filter(|address| !address.starts_with('#') && *address != "data:,") {
            assert!(address.starts_with('/') && !address.starts_with("//"), "{path} names {address}");
            match address.rsplit('.').next().unwrap() {
                "js" => drop(get(&app, address, "text/javascript; charset=utf-8").await),
                "css" => drop(get(&app, address, "text/css; charset=utf-8").await),
                _ => assert_eq!(app.request("GET", address).send().await.status, StatusCode::OK, "{address}"),
            }
        }
    }
    assert!(
        text(&get(&app, "/docs/reference.js", "text/javascript; charset=utf-8").await).contains("/v1/openapi.json")
    );
}

#[tokio::test]
async fn an_unknown_asset_is_not_found() {
    let app = TestApp::start().await;
    for name in ["swagger-ui.css.map", "index.html", "..%2fcss", "%00", "errors.md"] {
        let answer = app.request("GET", &format!("/docs/{name}")).send().await;
        assert_eq!(answer.refusal(), (404, "not_found".into()), "{name}");
    }
}

#[tokio::test]
async fn every_link_to_an_error_code_has_an_anchor() {
    let app = TestApp::start().await;
    let page = get(&app, "/docs/errors", "text/html; charset=utf-8").await;
    let ids = find_values(text(&page), "id");
    let anchors: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(anchors.len(), ids.len(), "an anchor stands twice");
    let mut linked = BTreeSet::new();
    collect_links(&api::build_openapi_document(), &mut linked);
    assert!(linked.len() > 30, "only {linked:?}");
    let astray: Vec<_> = linked.iter().filter(|code| !anchors.contains(code)).collect();
    assert!(astray.is_empty(), "{astray:?}");
    let inner =
        find_values(text(&page), "href").into_iter().filter_map(|href| Some(href.strip_prefix('#')?.to_owned()));
    for target in inner {
        assert!(anchors.contains(&target), "#{target}");
    }
}

fn collect_links(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let links = text.split("](/docs/errors#").skip(1);
            found.extend(links.map(|rest| rest.split(')').next().unwrap().to_owned()));
        }
        Value::Object(map) => map.values().for_each(|value| collect_links(value, found)),
        Value::Array(items) => items.iter().for_each(|value| collect_links(value, found)),
        _ => {}
    }
}
