//! Agents over HTTP: drafts, deployments and refusals.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::harness::TestApp;

fn new(slug: &str) -> Value {
    json!({"agent_type": "agent", "name": "Support", "slug": slug, "description": "Helps."})
}

async fn create_agent(app: &TestApp, slug: &str) -> String {
    let answer = app.post("/agent", &new(slug)).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.json());
    format!("/agent/{}", answer.json()["id"].as_str().unwrap())
}

#[tokio::test]
async fn fields_that_are_not_sent_have_defaults() {
    let app = TestApp::start().await;
    let path = create_agent(&app, "support").await;
    let shown = app.get(&path).await.json();
    assert_eq!((&shown["scope"], &shown["running_revision"]), (&json!("personal"), &Value::Null));
    assert_eq!(
        shown["draft"],
        json!({"system_prompt": "", "tool_exposure": "full", "builtInTools": {"disabled": [], "allowedFamilies": null}, "assignments": [], "states": []})
    );
    let tool = app.tool("search").await;
    let minimal = json!({"tool_id": tool, "version_constraint": "==1.*"});
    assert_eq!(app.post(&format!("{path}/assignment"), &minimal).await.status, StatusCode::NO_CONTENT);
    let expected = json!([{
        "tool_id": tool, "version_constraint": "==1.*", "additional_instruction": "", "audio_fillers": [],
        "audio_filler_triggered_after": 2.0, "result_persistence": "persisted-preferred",
    }]);
    assert_eq!(app.get(&format!("{path}/assignment")).await.json()["assignments"], expected);
    assert_eq!(app.get(&path).await.json()["draft"]["assignments"], expected);
}

#[tokio::test]
async fn bad_fields_are_named() {
    let app = TestApp::start().await;
    for (field, wrong) in [
        ("agent_type", json!("llm_proxy")),
        ("agent_type", Value::Null),
        ("slug", json!("No Slug")),
        ("slug", json!("a".repeat(65))),
        ("name", json!(" ")),
        ("name", json!("a".repeat(129))),
        ("description", json!("a".repeat(4097))),
        ("scope", json!("team")),
        ("system_prompt", json!("a".repeat(64 * 1024 + 1))),
        ("system_prompt", json!("a\u{0}")),
        ("tool_exposure", json!("none")),
    ] {
        let mut agent = new("support");
        agent[field] = wrong;
        let answer = app.post("/agent", &agent).await;
        assert_eq!(answer.refusal(), (422, "request_invalid".into()), "{field}");
        assert_eq!(answer.json()["detail"][0]["loc"], json!(["body", field]), "{}", answer.json());
    }
    let path = format!("{}/assignment", create_agent(&app, "support").await);
    for (field, wrong) in [
        ("tool_id", json!("search")),
        ("version_constraint", json!("latest")),
        ("additional_instruction", json!("a".repeat(4097))),
        ("audio_fillers", json!(vec!["a"; 11])),
        ("audio_filler_triggered_after", json!(0)),
        ("audio_filler_triggered_after", json!(10.5)),
        ("audio_filler_triggered_after", json!("2")),
        ("result_persistence", json!("for ever")),
        ("component_digest", json!("a".repeat(64))),
        ("component_digest", json!(format!("sha256:{}", "A".repeat(64)))),
        ("humanIntervention", json!("sometimes")),
        ("humanIntervention", json!(["required"])),
        ("humanIntervention", json!({"rule": []})),
    ] {
        let mut assignment = json!({"tool_id": "a".repeat(24), "version_constraint": ">=1"});
        assignment[field] = wrong;
        let answer = app.post(&path, &assignment).await;
        assert_eq!(answer.refusal(), (422, "request_invalid".into()), "{field}");
        assert_eq!(answer.json()["detail"][0]["loc"], json!(["body", field]), "{}", answer.json());
    }
    assert_eq!(app.get(&path).await.json()["assignments"], json!([]));
}

#[tokio::test]
async fn an_assignment_asks_for_confirmations() {
    let app = TestApp::start().await;
    let path = format!("{}/assignment", create_agent(&app, "support").await);
    let tool = app.tool("search").await;
    let assign = async |asked: &Value| {
        let assignment = json!({"tool_id": tool, "version_constraint": ">=1", "humanIntervention": asked});
        app.post(&path, &assignment).await
    };
    for asked in [
        json!("required"),
        json!({
            "policy": "never", "apis": {"remove": "always"},
            "rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "required"}],
        }),
    ] {
        assert_eq!(assign(&asked).await.status, StatusCode::NO_CONTENT);
        assert_eq!(app.get(&path).await.json()["assignments"][0]["humanIntervention"], asked);
    }
    for when in [json!({}), json!({"amount": 5}), json!({"amount": {"type": "money"}})] {
        let answer = assign(&json!({"rules": [{"when": when, "intervention": "always"}]})).await;
        assert_eq!(answer.refusal(), (400, "invalid_value".into()), "{when}");
    }
    let long = json!({"amount": {"description": "x".repeat(17 << 10)}});
    let answer = assign(&json!({"rules": [{"when": long, "intervention": "always"}]})).await;
    assert_eq!(answer.refusal(), (400, "invalid_value".into()), "more than 16 KiB");
    let decision = json!({
        "name": "ask", "type": "decision",
        "tool_call_specs": [{"tool_id": tool, "version_constraint": ">=1", "humanIntervention": {"rules": [{"when": {}, "intervention": "always"}]}}],
    });
    let answer = app.post(&path.replace("assignment", "state"), &decision).await;
    assert_eq!(answer.refusal(), (400, "invalid_value".into()));
    assert_eq!(assign(&json!("never")).await.status, StatusCode::NO_CONTENT);
    assert!(app.get(&path).await.json()["assignments"][0].get("humanIntervention").is_none());
}

/// A refused slug of a personal agent would tell that a colleague has it.
#[tokio::test]
async fn each_author_has_slugs_of_their_own_for_personal_agents() {
    let app = TestApp::start().await;
    let bob = app.member("bob", "author").await;
    let create = async |token: &str, scope: &str| {
        let mut new = new("desk");
        new["scope"] = json!(scope);
        app.request_signed_as(token, "POST", "/agent").json(&new).await
    };
    for token in [&app.token, &bob] {
        assert_eq!(create(token, "personal").await.status, StatusCode::CREATED);
        assert_eq!(create(token, "personal").await.refusal(), (409, "already_exists".into()));
    }
    let shared = create(&app.token, "organization").await.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(create(&bob, "organization").await.refusal(), (409, "already_exists".into()));
    let path = format!("/agent/{shared}");
    let personal = json!({"scope": "personal"});
    let refused = app.request_signed_as(&bob, "POST", &path).json(&personal).await;
    assert_eq!(
        refused.refusal(),
        (403, "permission_missing".into()),
        "only the author takes an agent away from others"
    );
    let refused = app.post(&path, &personal).await;
    assert_eq!(refused.refusal(), (409, "already_exists".into()), "the author has a personal one with the slug");
    assert!(refused.json()["detail"].as_str().unwrap().contains("`desk`"), "{}", refused.json());
}

#[tokio::test]
async fn a_slug_belongs_to_one_agent() {
    let app = TestApp::start().await;
    create_agent(&app, "support").await;
    let answer = app.post("/agent", &new("support")).await;
    assert_eq!(answer.refusal(), (409, "already_exists".into()));
    assert!(answer.json()["detail"].as_str().unwrap().contains("`support`"), "{}", answer.json());
    let other = create_agent(&app, "sales").await;
    let answer = app.post(&other, &json!({"slug": "support"})).await;
    assert_eq!(answer.refusal(), (409, "already_exists".into()));
}

#[tokio::test]
async fn a_deployment_is_refused_with_the_name_of_its_tool() {
    let app = TestApp::start().await;
    let (path, tool) = (create_agent(&app, "support").await, app.tool("search").await);
    app.version(&tool, &[]).await;
    for (tool, constraint, words) in [
        ("a".repeat(24), "", "no such tool"),
        (tool.clone(), ">=9", "no live version of the tool `search` matches `>=9`"),
    ] {
        let assignment = json!({"tool_id": tool, "version_constraint": constraint});
        app.post(&format!("{path}/assignment"), &assignment).await;
        let answer = app.post(&format!("{path}/deploy"), &json!({})).await;
        assert_eq!(answer.refusal(), (400, "assignment_unusable".into()));
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(&tool) && detail.contains(words), "{detail}");
        app.delete(&format!("{path}/assignment/{tool}")).await;
    }
    let answer = app.post(&format!("{path}/deploy"), &json!({})).await;
    assert_eq!((answer.status, &answer.json()["number"]), (StatusCode::OK, &json!(1)));
}

#[tokio::test]
async fn a_deployment_needs_the_pinned_component() {
    let app = TestApp::start().await;
    let (path, tool) = (create_agent(&app, "support").await, app.tool("search").await);
    app.version(&tool, &[]).await;
    let version = app.get(&format!("/tool/{tool}/version/1.0.0")).await.json();
    let present = version["component_digest"].as_str().unwrap();
    let pinned = format!("sha256:{}", "0".repeat(64));
    let assign = async |digest: &str| {
        let assignment = json!({"tool_id": tool, "version_constraint": "", "component_digest": digest});
        assert_eq!(app.post(&format!("{path}/assignment"), &assignment).await.status, StatusCode::NO_CONTENT);
    };
    assign(&pinned).await;
    let answer = app.post(&format!("{path}/deploy"), &json!({})).await;
    assert_eq!(answer.refusal(), (400, "assignment_unusable".into()));
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    for word in ["`search`", "1.0.0", &pinned, present] {
        assert!(detail.contains(word), "{detail}");
    }
    assign(present).await;
    app.post(&path, &json!({"tool_exposure": "search"})).await;
    assert_eq!(app.get(&path).await.json()["draft"]["tool_exposure"], "search");
    let revision = app.post(&format!("{path}/deploy"), &json!({})).await.json();
    assert_eq!((&revision["tool_exposure"], &revision["number"]), (&json!("search"), &json!(1)));
    assert_eq!(revision["assignments"][0]["component_digest"], present);
    assert_eq!(app.get(&format!("{path}/revision/1")).await.json(), revision);
}

#[tokio::test]
async fn a_personal_agent_does_not_exist_for_others() {
    let app = TestApp::start().await;
    let path = create_agent(&app, "support").await;
    let author = app.member("an-author", "author").await;
    let unknown = format!("/agent/{}", "f".repeat(24));
    for (method, below) in [
        ("GET", ""),
        ("POST", ""),
        ("DELETE", ""),
        ("GET", "/assignment"),
        ("POST", "/deploy"),
        ("GET", "/revision"),
        ("GET", "/revision/1"),
    ] {
        let answer = async |path: &str| {
            let answer = app.request_signed_as(&author, method, &format!("{path}{below}")).json(&json!({})).await;
            (answer.status, answer.json())
        };
        let hidden = answer(&path).await;
        assert_eq!(hidden, answer(&unknown).await, "{method} {below}");
        assert_eq!(hidden.0, StatusCode::NOT_FOUND, "{method} {below}");
    }
    assert_eq!(app.request_signed_as(&author, "GET", "/agent").json(&json!({})).await.json()["agents"], json!([]));
    app.post(&path, &json!({"scope": "organization"})).await;
    let listed = app.request_signed_as(&author, "GET", "/agent").json(&json!({})).await.json();
    assert_eq!(listed["agents"][0]["slug"], "support");
}
