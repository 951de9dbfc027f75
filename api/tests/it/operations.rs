//! Access to an operation: the user who started it, and users who may see its result elsewhere.

use axum::http::StatusCode;
use registry::{Grants, OperationKind, Permission};
use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn users_who_may_see_the_result_may_see_the_operation() {
    let app = TestApp::start().await;
    for (kind, own) in
        [(OperationKind::Invoke, Permission::GetInvocation), (OperationKind::Publish, Permission::GetTool)]
    {
        let path = format!("/operation/{}", app.operation(kind).await);
        let name = own as u32;
        let only = app.member_with(&format!("only-{name}"), Grants::of([own])).await;
        let others = Permission::grantable().filter(|permission| *permission != own);
        let all_but = app.member_with(&format!("all-but-{name}"), Grants::of(others)).await;
        let seen = app.request_signed_as(&only, "GET", &path).send().await;
        assert_eq!((seen.status, &seen.json()["status"]), (StatusCode::OK, &json!("running")), "{own}");
        let unseen = app.request_signed_as(&all_but, "GET", &path).send().await;
        let unknown = app.request_signed_as(&all_but, "GET", &format!("/operation/{}", "f".repeat(24))).send().await;
        assert_eq!(unseen.refusal(), (404, "not_found".into()), "{own}");
        assert_eq!((unseen.body, unseen.headers.len()), (unknown.body, unknown.headers.len()), "{own}");
    }
}

#[tokio::test]
async fn a_grant_for_some_tools_shows_their_operations() {
    let app = TestApp::start().await;
    let (search, other) = (app.tool("search_web").await, app.tool("other").await);
    let conditional = json!({"name": "searcher", "grants": [{
        "permission": "Tool:GetInvocation",
        "conditions": [{"key": "tool_name", "operator": "startsWith", "value": "search_"}],
    }]});
    assert_eq!(app.post("/role", &conditional).await.status, StatusCode::CREATED);
    let bob = app.member("bob", "searcher").await;
    for (tool, expected) in [(&search, StatusCode::OK), (&other, StatusCode::NOT_FOUND)] {
        let operation = app.operation_on(OperationKind::Invoke, tool).await;
        let answer = app.request_signed_as(&bob, "GET", &format!("/operation/{operation}")).send().await;
        assert_eq!(answer.status, expected);
    }
}

#[tokio::test]
async fn the_user_who_started_an_operation_may_see_it() {
    let app = TestApp::start().await;
    let operation = app.operation(OperationKind::Invoke).await;
    let path = format!("/operation/{operation}");
    app.member("bob", "admin").await;
    assert_eq!(app.post("/user/ada", &json!({"role": "invoker"})).await.status, StatusCode::NO_CONTENT);
    assert_eq!(app.get(&path).await.status, StatusCode::OK);
    let cy = app.member_with("cy", Grants::of([Permission::InvokeTool])).await;
    assert_eq!(app.request_signed_as(&cy, "GET", &path).send().await.status, StatusCode::NOT_FOUND);
}
