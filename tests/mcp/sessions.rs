//! Sessions of clients of earlier protocol versions.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::client::{Gateway, LEGACY, message, of_text};
use crate::harness::{Answer, Request, Team};

pub struct Session<'a> {
    pub gateway: &'a Gateway<'a>,
    pub id: String,
    /// Requests that were sent. The id of each is another one.
    requests: AtomicU64,
}

impl<'a> Session<'a> {
    pub fn begin(gateway: &'a Gateway<'a>) -> Self {
        Self::begin_with(gateway, json!({}))
    }

    /// Begins a session of a client with capabilities.
    pub fn begin_with(gateway: &'a Gateway<'a>, capabilities: Value) -> Self {
        let params = json!({
            "protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": {"name": "old-client", "version": "0.9"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = gateway.request("POST").json(&body).send_message();
        assert_eq!(message(&answer)["result"]["protocolVersion"], LEGACY, "{answer}");
        let id = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
        let session = Self { gateway, id, requests: AtomicU64::new(0) };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.request("POST").json(&initialized).send_message().status, 202);
        session
    }

    pub fn request(&self, method: &str) -> Request<'_> {
        self.of(self.gateway.request(method))
    }

    /// Adds the session to a request.
    fn of<'r>(&self, request: Request<'r>) -> Request<'r> {
        request.header("mcp-session-id", &self.id).header("mcp-protocol-version", LEGACY)
    }

    pub fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub fn send(&self, method: &str, params: Value) -> Answer {
        let body = json!({"jsonrpc": "2.0", "id": self.next_request(), "method": method, "params": params});
        self.request("POST").json(&body).send_message()
    }
}

#[test]
fn a_session_lists_and_calls() {
    let team = Team::new();
    of_text(team.tool("shout")).body("return tool_input['text'].upper()").published();
    let gateway = Gateway::new(&team, "tools", &["shout"]);
    let session = Session::begin(&gateway);
    let listed = message(&session.send("tools/list", json!({})));
    assert_eq!(listed["result"]["tools"][1]["name"], "shout", "{listed}");
    assert!(listed["result"]["resultType"].is_null(), "{listed}");
    let called = message(&session.send("tools/call", json!({"name": "shout", "arguments": {"text": "hi"}})));
    assert_eq!(called["result"]["content"][0]["text"], "HI", "{called}");
    let run = called["result"]["_meta"]["dev.lathe/invocationId"].as_str().unwrap();
    assert_eq!(team.get(&format!("/tool/invocation/{run}"))["agent_call"]["client"], "old-client 0.9");
    assert!(message(&session.send("ping", json!({})))["result"].is_object());
}

/// Begins a session of a version of the protocol. Returns its id, and the answer.
fn begin_in(gateway: &Gateway, version: &str) -> (String, Answer) {
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let answer = gateway.request("POST").json(&body).send_message();
    let id = answer.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let request = gateway.request("POST").header("mcp-session-id", &id).json(&initialized);
    assert_eq!(request.send_message().status, 202);
    (id, answer)
}

/// Clients of earlier versions take an event without data for a broken message, and a block that they do not know for a broken result.
#[test]
fn a_client_gets_what_its_version_has() {
    let team = Team::new();
    let body = "
        from amigo_tool_scaffold import content
        content.add_link('https://example.com/r', 'report', description='all of it')
        content.add_audio(b'RIFF', 'audio/wav')
        return 'done'";
    team.tool("report").body(body).published();
    let gateway = Gateway::new(&team, "tools", &["report"]);
    for (version, has_empty_events, kinds) in [
        ("2024-11-05", false, ["text", "text", "text"]),
        ("2025-03-26", false, ["text", "text", "audio"]),
        ("2025-06-18", false, ["text", "resource_link", "audio"]),
        (LEGACY, true, ["text", "resource_link", "audio"]),
    ] {
        let (session, begun) = begin_in(&gateway, version);
        assert_eq!(message(&begun)["result"]["protocolVersion"], version, "{begun}");
        let call =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "report", "arguments": {}}});
        let request = gateway.request("POST").header("mcp-session-id", &session);
        let request = if version < "2025-06-18" { request } else { request.header("mcp-protocol-version", version) };
        let called = request.json(&call).send_message();
        let has_empty = |answer: &Answer| String::from_utf8_lossy(&answer.body).contains("data: \n");
        assert_eq!(has_empty(&begun), has_empty_events, "{version}: {begun}");
        assert!(has_empty_events || !has_empty(&called), "{version}: {called}");
        let content = message(&called)["result"]["content"].take();
        let found: Vec<_> = content.as_array().expect("blocks").iter().map(|block| block["type"].clone()).collect();
        assert_eq!(found, kinds, "{version}: {content}");
        if kinds[1] == "text" {
            assert_eq!(content[1]["text"], "report <https://example.com/r>: all of it", "{version}");
        }
    }
}

#[test]
fn a_session_belongs_to_its_user_and_its_gateway() {
    let team = Team::new();
    let (gateway, other) = (Gateway::new(&team, "tools", &[]), Gateway::new(&team, "others", &[]));
    let colleague = team.joined_by("bob", "admin");
    let session = Session::begin(&gateway);
    let list = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {}});
    let by_other_user = session.of(gateway.as_user(&colleague, "POST")).json(&list).send_message();
    assert_eq!(by_other_user.status, 404, "{by_other_user}");
    let at_other_gateway = session.of(other.request("POST")).json(&list).send_message();
    assert_eq!(at_other_gateway.status, 404, "{at_other_gateway}");
    assert_eq!(session.send("tools/list", json!({})).status, 200);
}

#[test]
fn an_ended_session_is_unknown() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let session = Session::begin(&gateway);
    let ended = session.request("DELETE").send_message();
    assert_eq!(ended.status, 204, "{ended}");
    let unknown = session.send("tools/list", json!({}));
    assert_eq!(unknown.status, 404, "{unknown}");
    let error = unknown.json();
    assert_eq!((&error["jsonrpc"], &error["id"], &error["error"]["code"]), (&json!("2.0"), &json!(1), &json!(-32600)));
    assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains("initialize")), "{error}");
    for method in ["GET", "DELETE"] {
        let unknown = session.request(method).send_message();
        assert_eq!((unknown.status, &unknown.json()["jsonrpc"]), (404, &json!("2.0")), "{method}: {unknown}");
    }
    let missing = Gateway { team: &team, slug: "missing".to_owned(), id: String::new() };
    let unknown = missing.modern(missing.request("POST"), "tools/list", json!({})).send_message();
    assert_eq!((unknown.status, &unknown.json()["error"]["data"]["type"]), (404, &json!("not_found")), "{unknown}");
}

/// Clients send `initialize` with the id of the session that they had.
#[test]
fn a_session_begins_whatever_session_was_there_before() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let (ended, open) = (Session::begin(&gateway), Session::begin(&gateway));
    assert_eq!(ended.request("DELETE").send_message().status, 204);
    for old in [ended.id.as_str(), open.id.as_str(), "of-another-server"] {
        let params =
            json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": params});
        let begun = gateway.request("POST").header("mcp-session-id", old).json(&body).send_message();
        assert_eq!((begun.status, &message(&begun)["id"]), (200, &json!(9)), "{old}: {begun}");
        let id = begun.headers["mcp-session-id"].to_str().expect("an id");
        assert_ne!(id, old);
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let listed = gateway.request("POST").header("mcp-session-id", id).json(&list).send_message();
        assert!(message(&listed)["result"]["tools"].is_array(), "{listed}");
    }
    assert_eq!(open.send("ping", json!({})).status, 200, "the other session goes on");
}
