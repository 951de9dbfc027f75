//! Creating, listing, changing and deprecating tools.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

const LIST: &str = "src__app__endpoints__tool__get_tools__Response";

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_new_tool_is_listed_in_the_contracts_shape() {
    let app = TestApp::start().await;
    let body = json!({"name": "search", "description": " Finds. ", "tags": {"team": "red", "beta": null}, "more": 1});
    let answer = app.post("/tool/", &body).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    let id = answer.check_shape("src__app__endpoints__tool__create_tool__Response")["id"].clone();
    let list = app.get("/tool/").await.check_shape(LIST);
    let tool = &list["tools"][0];
    assert_eq!(tool["id"], id);
    assert_eq!(tool["description"], "Finds.");
    assert_eq!(tool["creator"], json!({"org_id": "acme", "user_id": "ada"}));
    assert_eq!(tool["tags"], json!([{"key": "beta", "value": null}, {"key": "team", "value": "red"}]));
    assert!(tool["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(list["filter_values"], json!({"tags": ["beta", "team"]}));
    assert_eq!((&list["has_more"], &list["continuation_token"]), (&json!(false), &Value::Null));
}

#[tokio::test]
async fn names_are_unique_and_bounded() {
    let app = TestApp::start().await;
    app.tool("search").await;
    let tool = |name: &str| json!({"name": name, "description": "d", "tags": {}});
    assert_eq!(app.post("/tool", &tool("search")).await.refusal(), (409, "already_exists".into()));
    assert_eq!(app.post("/tool", &tool(&"a".repeat(65))).await.refusal(), (400, "name_too_long".into()));
    assert_eq!(app.post("/tool", &tool(&"a".repeat(64))).await.status, StatusCode::CREATED);
    assert_eq!(app.post("/tool", &tool("")).await.refusal(), (422, "request_invalid".into()));
}

#[tokio::test]
async fn continuation_tokens_lead_through_all_pages() {
    let app = TestApp::start().await;
    for name in ["a", "b", "c"] {
        app.tool(name).await;
    }
    let first = app.get("/tool?limit=2&sort_by=%2Bname").await.check_shape(LIST);
    assert_eq!((names(&first), &first["has_more"]), (vec!["a", "b"], &json!(true)));
    let token = &first["continuation_token"];
    let second = app.get(&format!("/tool?limit=2&sort_by=+name&continuation_token={token}")).await.check_shape(LIST);
    assert_eq!((names(&second), &second["has_more"]), (vec!["c"], &json!(false)));
    assert!(second.as_object().unwrap().contains_key("filter_values"));
    assert_eq!((&second["filter_values"], &second["continuation_token"]), (&Value::Null, &Value::Null));
    assert_eq!(names(&app.get("/tool?sort_by=-name").await.json()), ["c", "b", "a"]);
}

#[tokio::test]
async fn filters_narrow_the_list() {
    let app = TestApp::start().await;
    for (name, tags) in [("a", json!({"team": "red"})), ("b", json!({"team": "blue"})), ("c", json!({"team": null}))] {
        app.post("/tool", &json!({"name": name, "description": "d", "tags": tags})).await;
    }
    let id = app.tool("d").await;
    app.delete(&format!("/tool/{id}")).await;
    for (query, expected) in [
        ("tag=team:red", vec!["a"]),
        ("tag=team:*", vec!["a", "b", "c"]),
        ("tag=team:", vec!["c"]),
        ("tag=+team%3A+red+", vec!["a"]),
        ("tag=team:*&tag=team:blue", vec!["b"]),
        ("tag=team:red&tag=team:blue", vec![]),
        ("tag=team:RED", vec![]),
        ("tag=tea*:*", vec![]),
        ("tag=team:r*", vec![]),
        ("tag=%27:%22", vec![]),
        ("deprecated=true", vec!["d"]),
        ("deprecated=false", vec!["a", "b", "c"]),
        (&format!("id={id}"), vec!["d"]),
    ] {
        let list = app.get(&format!("/tool?sort_by=%2Bname&{query}")).await.check_shape(LIST);
        assert_eq!(names(&list), expected, "{query}");
    }
    for nothing in ["tag=", "tag=team", "tag=:red", "tag=+:*", "tag=%00:red", "tag=team:r%00d", "sort_by=name"] {
        let answer = app.get(&format!("/tool?{nothing}")).await;
        assert_eq!(answer.refusal(), (422, "request_invalid".into()), "{nothing}");
    }
}

#[tokio::test]
async fn description_and_tags_can_change() {
    let app = TestApp::start().await;
    let id = app.tool("search").await;
    let answer = app.post(&format!("/tool/{id}/"), &json!({"description": "new", "tags": null})).await;
    assert_eq!((answer.status, answer.body.len()), (StatusCode::NO_CONTENT, 0));
    assert_eq!(app.get("/tool").await.json()["tools"][0]["description"], "new");
    let unknown = format!("/tool/{}", "a".repeat(24));
    assert_eq!(app.post(&unknown, &json!({})).await.refusal(), (404, "not_found".into()));
}

#[tokio::test]
async fn a_deprecated_tool_frees_its_name() {
    let app = TestApp::start().await;
    let id = app.tool("search").await;
    assert_eq!(app.delete(&format!("/tool/{id}")).await.status, StatusCode::NO_CONTENT);
    app.tool("search").await;
}
