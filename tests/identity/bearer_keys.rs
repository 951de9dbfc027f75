//! API keys as bearer, on every route.

use serde_json::{Value, json};

use crate::harness::{Answer, Team};

/// A request to any path with the key of a user as bearer.
fn with_key(team: &Team, method: &str, path: &str) -> Answer {
    team.server.request(method, path).bearer(&team.api_key).send()
}

#[test]
fn a_key_as_bearer_opens_every_kind_of_route() {
    let team = Team::new();
    let below = |path: &str| format!("/v1/{}{path}", team.organization);
    for path in [
        &below("/user/me"),
        &below("/tool"),
        &below("/tool/invocation"),
        &below("/agent"),
        &below("/tool/amigo_tool_scaffold.tar.gz"),
        &below("/agent_run"),
        "/api/v1/memory",
    ] {
        let answer = with_key(&team, "GET", path);
        assert_eq!(answer.status, 200, "{path}: {answer}");
    }
    let me: Value = with_key(&team, "GET", &below("/user/me")).expect(200);
    assert_eq!(me["user_id"], "ada", "{me}");
    let created = team.server.request("POST", &below("/role")).bearer(&team.api_key);
    let grants = json!([{"permission": "Tool:InvokeTool", "conditions": []}]);
    created.json(&json!({"name": "caller", "grants": grants})).send().expect(201);
}

#[test]
fn git_takes_a_key_as_bearer() {
    let team = Team::new();
    let header = format!("http.extraHeader=Authorization: Bearer {}", team.api_key);
    let (url, target) = (team.git_url_with(""), format!("HEAD:{}", team.branch()));
    let commit = team.repository.commit();
    team.repository.ok(&["-c", &header, "push", "-q", &url, &target]);
    assert!(team.repository.ok(&["-c", &header, "ls-remote", &url, &team.branch()]).starts_with(&commit));
}

#[test]
fn a_key_as_bearer_has_the_rights_of_its_user_and_ends_with_it() {
    let (team, stranger) = (Team::new(), Team::new());
    let bob = team.joined_by("bob", "invoker");
    let below = |path: &str| format!("/v1/{}{path}", team.organization);
    assert_eq!(with_key(&bob, "GET", &below("/api_key")).status, 403);
    assert_eq!(with_key(&stranger, "GET", &below("/tool")).status, 404);
    assert_eq!(with_key(&team, "GET", "/v1/nobody/tool").status, 404);
    let cut = &team.api_key[..team.api_key.len() - 1];
    assert_eq!(team.server.request("GET", &below("/tool")).bearer(cut).send().status, 401);
    team.delete(&format!("/api_key/{}", bob.api_key_id)).expect(204);
    assert_eq!(with_key(&bob, "GET", &below("/tool")).status, 401);
}
