//! Bounds of the sessions of a user.

use serde_json::{Value, json};

use super::client::{Gateway, LEGACY, message};
use super::sessions::Session;
use crate::harness::{Answer, Team};

/// Sessions of one user.
const SESSIONS_OF_USER_MAX: usize = 50;

fn begin_with(gateway: &Gateway<'_>, information: &Value) -> Answer {
    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": information});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    gateway.request("POST").json(&body).send_message()
}

#[test]
fn a_user_loses_the_own_session_that_was_used_the_longest_time_ago() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let bob = team.joined_by("bob", "admin");
    let of_bob = Gateway { team: &bob, slug: gateway.slug.clone(), id: gateway.id.clone() };
    let colleague = Session::begin(&of_bob);
    let sessions: Vec<_> = (0..SESSIONS_OF_USER_MAX).map(|_| Session::begin(&gateway)).collect();
    assert_eq!(sessions[0].send("ping", json!({})).status, 200);
    let last = Session::begin(&gateway);
    assert_eq!(sessions[1].send("ping", json!({})).status, 404);
    for alive in [&sessions[0], &sessions[2], &last, &colleague] {
        assert_eq!(alive.send("ping", json!({})).status, 200);
    }
}

/// A message that begins no session takes no place, and ends nobody's session.
#[test]
fn other_messages_without_a_session_end_none() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let sessions: Vec<_> = (0..SESSIONS_OF_USER_MAX).map(|_| Session::begin(&gateway)).collect();
    for body in [json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), json!([]), json!({"method": "tools/list"})] {
        gateway.request("POST").json(&body).send_message();
    }
    assert_eq!(sessions[0].send("ping", json!({})).status, 200);
}

/// Every notification of a call repeats the token.
#[test]
fn a_progress_token_is_bounded() {
    let team = Team::new();
    team.tool("greet").body("return 'hello'").published();
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let call = |bytes: usize| {
        let meta = json!({"progressToken": "x".repeat(bytes)});
        let params = json!({"name": "greet", "arguments": {}, "_meta": meta});
        message(&gateway.modern(gateway.request("POST"), "tools/call", params).send_message())
    };
    assert_eq!(call(257)["error"]["code"], -32602);
    assert!(call(256)["result"].is_object());
}

#[test]
fn the_beginning_of_a_session_is_bounded() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let refused = begin_with(&gateway, &json!({"name": "x".repeat(16 << 10), "version": "1"}));
    assert_eq!(refused.status, 413, "{refused}");
    assert_eq!(begin_with(&gateway, &json!({"name": "x".repeat(1 << 10), "version": "1"})).status, 200);
}
