//! The history: list, search and one record.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

const LIST: &str = "src__app__endpoints__tool__get_tool_invocations__Response";
const SEARCH: &str = "src__app__endpoints__tool__search_tool_invocations__Response";

fn ids(list: &Value) -> Vec<&str> {
    list["tool_invocations"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn runs_are_listed_in_the_contracts_shape() {
    let app = TestApp::start().await;
    let (good, bad) = (app.run("first words", true).await, app.run("second thoughts", false).await);
    let list = app.get("/tool/invocation").await.check_shape(LIST);
    assert_eq!(ids(&list).len(), 2);
    let run = app.get(&format!("/tool/invocation/{good}")).await.check_shape("ToolInvocationInstance");
    assert_eq!(run["invocation_status"], json!({"succeeded": true, "output": "first words"}));
    assert_eq!(run["sensitive_user_variables"], json!({"pin": "[redacted]"}));
    assert_eq!(run["invocation_mode"], "regular");
    let run = app.get(&format!("/tool/invocation/{bad}")).await.check_shape("ToolInvocationInstance");
    assert_eq!(run["invocation_status"]["exception_message"], "second thoughts");
    let unknown = app.get(&format!("/tool/invocation/{}", "f".repeat(24))).await;
    assert_eq!(unknown.refusal(), (404, "not_found".into()));
}

#[tokio::test]
async fn filters_and_pages_narrow_the_list() {
    let app = TestApp::start().await;
    let (good, bad) = (app.run("a", true).await, app.run("b", false).await);
    let conversation = "c".repeat(24);
    for (query, expected) in [
        ("succeeded=true".to_owned(), vec![&good]),
        ("succeeded=false".to_owned(), vec![&bad]),
        (format!("conversation_id={conversation}&succeeded=true"), vec![&good]),
        (format!("conversation_id={}", "d".repeat(24)), vec![]),
        ("invocation_source_type=regular-conversation&succeeded=false".to_owned(), vec![&bad]),
        ("invocation_source_type=simulation-conversation".to_owned(), vec![]),
        ("origin=conversation&succeeded=true".to_owned(), vec![&good]),
        ("origin=direct&origin=branch-test".to_owned(), vec![]),
        ("state=running".to_owned(), vec![]),
        ("state=finished&state=running&succeeded=false".to_owned(), vec![&bad]),
        ("created_before=2000-01-01T00:00:00Z".to_owned(), vec![]),
        ("created_after=2000-01-01T00:00:00%2B01:00&succeeded=false".to_owned(), vec![&bad]),
        (
            "sort_by=%2Bversion.major&sort_by=-version.minor&sort_by=-version.patch&succeeded=true".to_owned(),
            vec![&good],
        ),
        ("sort_by=-tool_id&sort_by=%2Binvocation_source.type&succeeded=true".to_owned(), vec![&good]),
        ("persisted=false".to_owned(), vec![]),
    ] {
        let list = app.get(&format!("/tool/invocation?{query}")).await.check_shape(LIST);
        assert_eq!(ids(&list), expected, "{query}");
    }
    for query in ["invocation_source_type=direct", "origin=regular", "created_after=2026-01-01T00:00:00", "state=lost"]
    {
        let refused = app.get(&format!("/tool/invocation?{query}")).await;
        assert_eq!(refused.refusal(), (422, "request_invalid".into()), "{query}");
    }
    let none = app.get("/tool/invocation?limit=0").await.check_shape(LIST);
    assert_eq!((&none["has_more"], &none["continuation_token"]), (&json!(false), &Value::Null));
    let first = app.get("/tool/invocation?limit=1").await.check_shape(LIST);
    assert_eq!(first["has_more"], true);
    let token = &first["continuation_token"];
    let second = app.get(&format!("/tool/invocation?limit=1&continuation_token={token}")).await.check_shape(LIST);
    assert_eq!((&second["has_more"], &second["continuation_token"]), (&json!(false), &Value::Null));
    assert_ne!(ids(&first), ids(&second));
}

#[tokio::test]
async fn versions_are_paired_with_tools() {
    let app = TestApp::start().await;
    let tool = app.tool("search").await;
    app.version(&tool, &[]).await;
    let run = app.run_of(&tool, "a", true).await;
    for (query, expected) in [("version=%3E%3D1.0", vec![&run]), ("version=%3E%3D2.0", vec![])] {
        let list = app.get(&format!("/tool/invocation?tool_id={tool}&{query}")).await.check_shape(LIST);
        assert_eq!(ids(&list), expected, "{query}");
    }
    let answer = app.get(&format!("/tool/invocation?tool_id={tool}&version=1.0&version=2.0")).await;
    assert_eq!(answer.refusal(), (400, "version_without_tool".into()));
    assert_eq!(app.get("/tool/invocation?version=1.0").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn words_are_found_in_the_searched_fields() {
    let app = TestApp::start().await;
    let (good, bad) = (app.run("blue whale", true).await, app.run("red whale", false).await);
    let output = "query_against=invocation_status.output";
    let message = "query_against=invocation_status.exception_message";
    for (query, expected) in [
        (format!("query=whale&{output}"), vec![&good]),
        (format!("query=whale&{message}"), vec![&bad]),
        (format!("query=blue&{output}&{message}"), vec![&good]),
        (format!("query=whale&{output}&{message}&succeeded=false"), vec![&bad]),
        (format!("query=%22+OR+*+NEAR(&{output}"), vec![]),
    ] {
        let list = app.get(&format!("/tool/invocation/search?{query}")).await.check_shape(SEARCH);
        assert_eq!(ids(&list), expected, "{query}");
    }
    let long = "x".repeat(257);
    let answer = app.get(&format!("/tool/invocation/search?query={long}&{output}")).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
}
