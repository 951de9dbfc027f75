//! The bytes of the tools of an agent: at the deployment, and in lists.

use agents::AgentDraft;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

const SCHEMA_BYTES: usize = 250_000;
/// Tools of this size that an agent may have.
const FITTING: usize = AgentDraft::SCHEMAS_BYTES_MAX / (SCHEMA_BYTES + 1_000);

async fn assign(app: &TestApp, agent: &str, tool: &str) {
    let assignment = json!({"tool_id": tool, "version_constraint": ">=0"});
    let assigned = app.post(&format!("/agent/{agent}/assignment"), &assignment).await;
    assert_eq!(assigned.status, StatusCode::NO_CONTENT, "{}", assigned.json());
}

async fn deploy(app: &TestApp, agent: &str) -> (StatusCode, Value) {
    let answer = app.post(&format!("/agent/{agent}/deploy"), &json!({})).await;
    (answer.status, answer.json())
}

/// All pages of the tools of an agent.
async fn read_pages(app: &TestApp, agent: &str, query: &str) -> Vec<Value> {
    let (mut pages, mut token) = (Vec::<Value>::new(), json!(0));
    loop {
        let answer = app.get(&format!("/agent/{agent}/tools?{query}&continuation_token={token}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
        let page = answer.json();
        let (has_more, next) = (page["has_more"] == true, page["continuation_token"].clone());
        pages.push(page);
        assert_eq!(has_more, !next.is_null());
        if !has_more {
            return pages;
        }
        token = next;
    }
}

/// The published tools of pages.
fn count_published(pages: &[Value]) -> usize {
    list_names(pages).iter().filter(|name| name.starts_with("tool_")).count()
}

fn list_names(pages: &[Value]) -> Vec<&str> {
    pages.iter().flat_map(|page| page["tools"].as_array().unwrap()).map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Also the schemas of tools of states, and of versions that different constraints accept, count.
#[tokio::test]
async fn the_schemas_of_a_revision_are_bounded_at_its_deployment() {
    let app = TestApp::start().await;
    let agent = app.draft("support").await;
    let mut tools = Vec::new();
    for number in 0..=FITTING {
        tools.push(app.tool_with_schema(&format!("tool_{number:02}"), SCHEMA_BYTES).await);
    }
    for tool in &tools[..FITTING] {
        assign(&app, &agent, tool).await;
    }
    let (status, deployed) = deploy(&app, &agent).await;
    assert_eq!(status, StatusCode::OK, "{deployed}");

    let specs = json!([{"tool_id": tools[FITTING], "version_constraint": ">=0"}]);
    let state = json!({"name": "route", "type": "decision", "tool_call_specs": specs});
    assert_eq!(app.post(&format!("/agent/{agent}/state"), &state).await.status, StatusCode::NO_CONTENT);
    let (status, refused) = deploy(&app, &agent).await;
    assert_eq!((status, &refused["code"]), (StatusCode::BAD_REQUEST, &json!("too_many")), "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("bytes of the schemas of an agent's tools"), "{refused}");

    app.delete(&format!("/agent/{agent}/state/route")).await;
    let shown = read_pages(&app, &agent, "format=mcp").await;
    assert_eq!((count_published(&shown), shown[0]["left_out"].clone()), (FITTING, json!([])));
    app.version_with_schema(&tools[0], 1_000_000).await;
    let shown = read_pages(&app, &agent, "format=mcp").await;
    let left_out = shown[0]["left_out"].as_array().unwrap();
    assert_eq!((count_published(&shown), left_out.len()), (FITTING - 3, 3), "{left_out:?}");
    assert!(!left_out.contains(&json!("tool_00")), "the tool that was created first stays: {left_out:?}");
}

#[tokio::test]
async fn the_tools_of_an_agent_have_pages_in_every_form() {
    let app = TestApp::start().await;
    let agent = app.draft("support").await;
    for number in 0..5 {
        assign(&app, &agent, &app.tool_with_schema(&format!("tool_{number}"), 100).await).await;
    }
    assert_eq!(deploy(&app, &agent).await.0, StatusCode::OK);
    let all = read_pages(&app, &agent, "format=gemini").await;
    assert_eq!(all.len(), 1, "all fit on the page that a client gets without a limit");
    for format in ["mcp", "anthropic", "gemini"] {
        let shown = read_pages(&app, &agent, &format!("format={format}&limit=2")).await;
        assert_eq!(
            (list_names(&shown), shown.len()),
            (list_names(&all), list_names(&all).len().div_ceil(2)),
            "{format}"
        );
    }
    let families = read_pages(&app, &agent, "format=lobe").await[0]["tools"].as_array().unwrap().len();
    assert_eq!(read_pages(&app, &agent, "format=lobe&limit=1").await.len(), families);

    let token = read_pages(&app, &agent, "format=mcp&limit=2").await[0]["continuation_token"].clone();
    let other_form = app.get(&format!("/agent/{agent}/tools?format=gemini&continuation_token={token}")).await;
    assert_eq!(other_form.refusal().0, 422, "{}", other_form.json());
    for limit in ["0", "501"] {
        assert_eq!(app.get(&format!("/agent/{agent}/tools?limit={limit}")).await.refusal().0, 422, "{limit}");
    }
    let tool = app.tool_with_schema("tool_5", 100).await;
    assign(&app, &agent, &tool).await;
    assert_eq!(deploy(&app, &agent).await.0, StatusCode::OK);
    let changed = app.get(&format!("/agent/{agent}/tools?format=mcp&limit=2&continuation_token={token}")).await;
    assert_eq!(changed.refusal().0, 422, "the list has changed: {}", changed.json());
}

/// Ten at once are of less than some hundred megabytes.
#[tokio::test]
async fn a_page_of_large_tools_has_at_most_8_mib() {
    let app = TestApp::start().await;
    let agent = app.draft("support").await;
    for number in 0..FITTING {
        let tool = app.tool_with_schema(&format!("tool_{number:02}"), SCHEMA_BYTES).await;
        let instruction = "i".repeat(4_000);
        let assignment = json!({"tool_id": tool, "version_constraint": ">=0", "additional_instruction": instruction});
        assert_eq!(app.post(&format!("/agent/{agent}/assignment"), &assignment).await.status, StatusCode::NO_CONTENT);
    }
    assert_eq!(deploy(&app, &agent).await.0, StatusCode::OK);
    let answer = app.get(&format!("/agent/{agent}/tools")).await;
    assert!(answer.body.len() <= (8 << 20) + 1_000, "{} bytes", answer.body.len());
    let shown = read_pages(&app, &agent, "format=mcp").await;
    assert_eq!((count_published(&shown), shown.len()), (FITTING, 2));
}

#[tokio::test]
async fn the_assignments_of_an_agent_are_bounded_in_bytes() {
    let app = TestApp::start().await;
    let agent = app.draft("support").await;
    for number in 0..300 {
        let assignment = json!({
            "tool_id": format!("{number:024x}"), "version_constraint": ">=0", "additional_instruction": "i".repeat(4_096),
        });
        let answer = app.post(&format!("/agent/{agent}/assignment"), &assignment).await;
        if answer.status != StatusCode::NO_CONTENT {
            assert_eq!(answer.refusal(), (400, "too_many".into()), "{}", answer.json());
            assert_eq!(
                number,
                AgentDraft::ASSIGNMENTS_BYTES_MAX / (4_096 + ">=0".len() + "[]".len() + "\"never\"".len())
            );
            return;
        }
    }
    panic!("no assignment was refused");
}

/// Small objects take a hundred times the memory of their text.
#[tokio::test]
async fn the_rules_of_an_assignment_are_bounded_in_memory() {
    let app = TestApp::start().await;
    let agent = app.draft("support").await;
    let many = vec![json!({"": 0}); 1_000];
    let rules = json!({"rules": [{"when": {"amount": {"enum": many}}, "intervention": "always"}]});
    let assignment = json!({"tool_id": "a".repeat(24), "version_constraint": ">=0", "humanIntervention": rules});
    let answer = app.post(&format!("/agent/{agent}/assignment"), &assignment).await;
    assert_eq!(answer.refusal(), (400, "invalid_value".into()), "{}", answer.json());
    assert!(answer.json()["detail"].as_str().unwrap().contains("bytes of memory"), "{}", answer.json());
}

#[tokio::test]
async fn holds_have_pages() {
    let app = TestApp::start().await;
    let mut placed = Vec::new();
    for _ in 0..5 {
        placed.push(app.hold().await);
    }
    let (mut shown, mut token) = (Vec::new(), json!(0));
    while !token.is_null() {
        let page = app.get(&format!("/history_hold?limit=2&continuation_token={token}")).await.json();
        let holds = page["holds"].as_array().unwrap();
        assert!(holds.len() <= 2, "{page}");
        shown.extend(holds.iter().map(|hold| hold["hold_id"].as_str().unwrap().to_owned()));
        token = page["continuation_token"].clone();
    }
    placed.sort();
    placed.reverse();
    assert_eq!(shown, placed, "newest first");
    assert_eq!(app.get("/history_hold?continuation_token=7").await.refusal().0, 422);
}
