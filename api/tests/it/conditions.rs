//! Roles with conditions on tools: what they allow, and what they do not reveal.

use axum::http::StatusCode;
use registry::{Condition, Grant, Grants, Permission};
use serde_json::{Value, json};

use crate::fixtures;
use crate::harness::TestApp;

/// All conditional permissions, for tools whose names begin with `search_` and that are not in production.
fn grant_search() -> Grants {
    let condition = |key, operator, value| Condition::parse(key, operator, value).unwrap();
    let conditions = || vec![condition("tool_name", "startsWith", "search_"), condition("tag.env", "notEqual", "prod")];
    let permissions = Permission::grantable().filter(|permission| permission.can_be_conditional());
    Grants::new(permissions.map(|permission| Grant::new(permission, conditions()).unwrap()).collect()).unwrap()
}

async fn create_tool(app: &TestApp, name: &str, tags: Value) -> String {
    let answer = app.post("/tool", &json!({"name": name, "description": "d", "tags": tags})).await;
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_conditional_role_gives_access_to_its_tools_only() {
    let app = TestApp::start().await;
    let token = app.member_with("searcher", grant_search()).await;
    let open = create_tool(&app, "search_web", json!({"env": "test"})).await;
    let closed =
        [create_tool(&app, "greet", json!({})).await, create_tool(&app, "search_live", json!({"env": "prod"})).await];
    let (_, stranger) = fixtures::create_organization(&app.store, "other", "eve").await;
    let foreign = app.request("POST", "/v1/other/tool").header("authorization", &format!("Bearer {stranger}"));
    let foreign = foreign.json(&json!({"name": "search_other", "description": "d", "tags": {}})).await.json();
    let foreign = foreign["id"].as_str().unwrap().to_owned();
    let (run, other_run) = (app.run_of(&open, "x", true).await, app.run_of(&closed[0], "x", true).await);
    let unknown = "f".repeat(24);
    let answer = async |method: &str, path: String| {
        app.request_signed_as(&token, method, &path).json(&json!({"description": "d"})).await
    };
    for (method, path) in [
        ("GET", "/tool/ID/version"),
        ("POST", "/tool/ID"),
        ("POST", "/tool/ID/version/1.0.0/invoke"),
        ("DELETE", "/tool/ID/version/1.0.0"),
    ] {
        let own = answer(method, path.replace("ID", &open)).await;
        assert_ne!(own.status, StatusCode::FORBIDDEN, "{method} {path}");
        let mut bodies = Vec::new();
        for id in [&closed[0], &closed[1], &foreign, &unknown, "nothex"] {
            let refused = answer(method, path.replace("ID", id)).await;
            assert_eq!(refused.refusal(), (403, "permission_missing".into()), "{method} {path} {id}");
            bodies.push(refused.body);
        }
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "{method} {path}");
    }
    assert_eq!(answer("GET", format!("/tool/invocation/{run}")).await.status, StatusCode::OK);
    for run in [&other_run, &unknown, "nothex"] {
        assert_eq!(answer("GET", format!("/tool/invocation/{run}")).await.status, StatusCode::FORBIDDEN, "{run}");
    }
}

#[tokio::test]
async fn conditional_grants_do_not_allow_operations_without_a_tool() {
    let app = TestApp::start().await;
    let token = app.member_with("searcher", grant_search()).await;
    for path in
        ["/tool", "/tool/invocation", "/tool/invocation/search?query=x", "/tool/amigo_tool_scaffold.tar.gz", "/tool/"]
    {
        let answer = app.request_signed_as(&token, "GET", path).send().await;
        assert_eq!(answer.refusal(), (403, "permission_missing".into()), "{path}");
    }
}

#[tokio::test]
async fn a_changed_tag_takes_effect_immediately() {
    let app = TestApp::start().await;
    let token = app.member_with("searcher", grant_search()).await;
    let id = create_tool(&app, "search_web", json!({"env": "test"})).await;
    let path = format!("/tool/{id}/version");
    assert_eq!(app.request_signed_as(&token, "GET", &path).send().await.status, StatusCode::OK);
    app.post(&format!("/tool/{id}"), &json!({"tags": {"env": "prod"}})).await;
    assert_eq!(app.request_signed_as(&token, "GET", &path).send().await.status, StatusCode::FORBIDDEN);
}
