//! The transport: statuses and errors of messages that a server refuses.

use serde_json::{Value, json};

use super::client::{Gateway, MODERN, message, meta};
use super::sessions::Session;
use crate::harness::{Answer, Team};

fn refused(answer: &Answer, status: u16, code: i64) -> Value {
    assert_eq!(answer.status, status, "{answer}");
    let error = message(answer)["error"].take();
    assert_eq!(error["code"], code, "{answer}");
    error
}

#[test]
fn spoilt_messages_are_refused_with_their_codes() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let sent = |body: &str| gateway.request("POST").header("mcp-protocol-version", MODERN).body(body.to_owned());
    assert_eq!(sent("{\"jsonrpc\":").send_message().status, 400);
    assert_eq!(sent("[]").send_message().status, 400);
    assert_eq!(sent("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}]").send_message().status, 400);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{}1{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert_eq!(sent(&deep).send_message().status, 400);
    let long =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{{\"a\":\"{}\"}}}}", "a".repeat(1 << 20));
    assert_eq!(sent(&long).send_message().status, 413);
    assert_eq!(sent("").announced(10 << 20).status, 413);
}

/// A tool that pays the amount that it is told.
fn payer(team: &Team) -> Gateway<'_> {
    team.tool("pay").body("return tool_input['amount']").published();
    Gateway::new(team, "tools", &["pay"])
}

/// The body of a call of the tool with arguments as they stand there.
fn payment(arguments: &str) -> String {
    let meta = meta().to_string();
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"pay","arguments":{arguments},"_meta":{meta}}}}}"#
    )
}

#[test]
fn arguments_have_one_meaning_as_over_http() {
    let team = Team::new();
    let gateway = payer(&team);
    let sent = |body: &str| {
        let request = gateway.request("POST").header("mcp-protocol-version", MODERN);
        let request = request.header("mcp-method", "tools/call").header("mcp-name", "pay");
        request.header("content-type", "application/json").body(body.to_owned()).send_message()
    };
    for (arguments, told) in [
        (r#"{"amount": 1, "amount": 1000}"#, "an object has the same key twice at line 1"),
        (r#"{"amount": {"a": 1, "\u0061": 2}}"#, "an object has the same key twice at line 1"),
        (r#"{"amount": 18446744073709551616}"#, "a whole number does not fit into 64 bits at line 1"),
    ] {
        let error = refused(&sent(&payment(arguments)), 400, -32700);
        assert!(error["message"].as_str().is_some_and(|text| text.contains(told)), "{error}");
    }
    let paid = message(&sent(&payment(r#"{"amount": 18446744073709551615}"#)));
    assert_eq!(paid["result"]["content"][0]["text"], "18446744073709551615", "{paid}");

    let session = Session::begin(&gateway);
    let body =
        r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1,"amount":2}}}"#;
    let request = session.request("POST").header("content-type", "application/json").body(body.to_owned());
    refused(&request.send_message(), 400, -32700);
    assert_eq!(team.get("/tool/invocation")["tool_invocations"].as_array().map(Vec::len), Some(1), "one call was made");
}

#[test]
fn every_text_of_a_message_has_a_bound() {
    let team = Team::new();
    let gateway = payer(&team);
    let long = "x".repeat(5_000);
    for (method, params, place) in [
        ("tools/call", json!({"arguments": {}, "_meta": {"progressToken": long}}), "params/_meta/progressToken"),
        ("tools/list", json!({"cursor": long}), "params/cursor"),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": long}}), "params/ref/name"),
        ("subscriptions/listen", json!({"resourceSubscriptions": [long]}), "params/resourceSubscriptions/0"),
    ] {
        let answer = gateway.modern(gateway.request("POST"), method, params).send_message();
        let error = refused(&answer, 200, -32602);
        assert_eq!(error["message"], format!("{place}: has at most 4096 bytes"), "{answer}");
        assert_eq!(error["data"]["type"], "parameter_too_long", "{answer}");
        assert!(message(&answer)["id"] == 1 && answer.body.len() < 1_000, "{answer}");
    }
    let session = Session::begin(&gateway);
    let answer = session.send("prompts/get", json!({"name": long}));
    refused(&answer, 200, -32602);
}

#[test]
fn headers_and_body_must_agree() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let body = |method: &str, version: &str| {
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }}})
    };
    let request = || gateway.request("POST").header("mcp-protocol-version", MODERN);
    let mismatch = request().header("mcp-method", "tools/call").json(&body("tools/list", MODERN)).send_message();
    refused(&mismatch, 400, -32020);
    let missing = request().json(&body("tools/list", MODERN)).send_message();
    refused(&missing, 400, -32020);
    let unknown =
        gateway.request("POST").header("mcp-protocol-version", "2031-01-01").header("mcp-method", "tools/list");
    let error = refused(&unknown.json(&body("tools/list", "2031-01-01")).send_message(), 400, -32022);
    assert!(error["data"]["supported"].as_array().unwrap().contains(&json!(MODERN)), "{error}");
    let removed = request().header("mcp-method", "ping").json(&body("ping", MODERN)).send_message();
    refused(&removed, 404, -32601);
}

#[test]
fn only_post_is_allowed_without_a_session() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    for method in ["GET", "DELETE"] {
        let answer = gateway.request(method).header("mcp-protocol-version", MODERN).send_message();
        assert_eq!(answer.status, 405, "{method}: {answer}");
    }
}

#[test]
fn every_refusal_is_an_error_of_json_rpc() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let post = || gateway.request("POST").header("mcp-protocol-version", MODERN);
    let json = |method: &str| gateway.accepting("application/json", &team, method);
    for (case, request, status, text) in [
        ("only JSON", json("POST").json(&json!({})), 406, "Client must accept both"),
        ("a form", post().header("content-type", "text/plain").body("{}".to_owned()), 415, "must be application/json"),
        ("no session", gateway.request("DELETE"), 400, "Session ID is required"),
        ("no stream", json("GET"), 406, "must accept text/event-stream"),
        ("no method", gateway.request("GET").header("mcp-protocol-version", MODERN), 405, "Method Not Allowed"),
        ("a foreign host", post().header("host", "evil.example").json(&json!({})), 403, "Host"),
    ] {
        let answer = request.send_message();
        let error = refused(&answer, status, -32600);
        assert!(error["message"].as_str().unwrap().contains(text), "{case}: {error}");
    }
}

#[test]
fn a_client_that_accepts_anything_is_answered() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let request = gateway.accepting("*/*", &team, "POST");
    let answer = gateway.modern(request, "tools/list", json!({})).send_message();
    assert_eq!(answer.status, 200, "{answer}");
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    for (header, value, status) in [
        ("host", "evil.example", 403),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost:3000", 200),
    ] {
        let request = gateway.request("POST").header(header, value);
        let answer = gateway.modern(request, "tools/list", json!({})).send_message();
        assert_eq!(answer.status, status, "{header}: {value}: {answer}");
    }
}

#[test]
fn a_server_describes_itself() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let described = gateway.send("server/discover", json!({}));
    let result = &described["result"];
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)), "{described}");
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true, "{described}");
    assert_eq!(result["instructions"], "Tools of the team.");
}

#[test]
fn unknown_tools_and_methods_are_protocol_errors() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let call = gateway.send("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    assert_eq!(call["error"]["code"], -32602, "{call}");
    assert_eq!(call["id"], 1);
}
