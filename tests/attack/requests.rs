//! The valid requests that are damaged: at least one per handler. None of them removes what another one needs.

use serde_json::{Value, json};

use super::message::Message;
use crate::harness::{Team, input};

const JSON: &str = "application/json";

/// Returns the valid requests. `other` signs in so often that the oldest tokens of their key are evicted.
pub fn proper(team: &Team, other: &Team, tool: &str) -> Vec<Message> {
    let path = |rest: &str| format!("/v1/{}{rest}", team.organization);
    let get = |rest: &str| signed(team, Message::new("GET", path(rest)));
    let post =
        |rest: &str, body: &Value| signed(team, Message::new("POST", path(rest))).with_body(JSON, body.to_string());
    let tool = |rest: &str| format!("/tool/{tool}{rest}");
    let run = json!({"inputs": [input(&json!({"text": "hello", "numbers": [1, 2.5, null, {"deep": true}]}))]});
    let mut requests = vec![
        get("/tool?limit=10&deprecated=false&tag=team:*&sort_by=%2Bname&sort_by=-deprecated"),
        get(&tool("/version?versions=%3E%3D1&limit=5&sort_by=-version.major")),
        get(&tool("/version/1.0.0")),
        get("/tool/invocation?succeeded=true&limit=5&origin=direct&sort_by=-created_at"),
        get("/tool/invocation/search?query=hello%20OR%20%22world%22&query_against=invocation_status.output"),
        get("/tool/git/tools.git/info/refs?service=git-upload-pack"),
        get("/tool/amigo_tool_scaffold.tar.gz"),
        get("/user"),
        get("/user/me"),
        get("/role"),
        post(&tool("/version/1.0.0/invoke"), &run),
        post(&tool("/version/%3E%3D0/invoke"), &run).with_header("accept: text/event-stream"),
        post(&tool("/version/1.0.0/invoke"), &run)
            .with_header("prefer: respond-async")
            .with_header("idempotency-key: k1"),
        post(&tool(""), &json!({"description": "What it does.", "tags": {"team": "demo", "beta": null}})),
        post(&tool("/envvar"), &json!({"inserts": [], "updates": [], "deletes": []})),
        post(
            "/tool/invocation/rollback",
            &json!({"conversation_id": "a".repeat(24), "interaction_id": "b".repeat(24)}),
        ),
        signed(team, Message::new("DELETE", path(&tool("/version/%3D%3D99")))),
        Message::new("GET", "/health/ready".into()),
        Message::new("GET", "/v1/openapi.json".into()),
        Message::new("GET", "/docs/errors".into()),
    ];
    requests.push(sign_in(other, path("/user/signin_with_api_key")));
    requests.push(refs(team, path("/tool/git/tools.git/git-upload-pack")));
    requests
}

fn signed(team: &Team, message: Message) -> Message {
    message.with_header(format!("authorization: Bearer {}", team.token))
}

fn sign_in(team: &Team, path: String) -> Message {
    let message = Message::new("POST", path).with_header(format!("x-api-key: {}", team.api_key));
    message.with_header(format!("x-api-key-id: {}", team.api_key_id)).with_header(format!("x-user-id: {}", team.user))
}

/// Asks git for the branches.
fn refs(team: &Team, path: String) -> Message {
    let message = signed(team, Message::new("POST", path)).with_header("git-protocol: version=2");
    message.with_body("application/x-git-upload-pack-request", "0014command=ls-refs\n00010009peel\n0000")
}
