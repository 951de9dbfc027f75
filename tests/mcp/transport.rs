//! The transport: statuses and errors of messages that a server refuses.

use serde_json::{Value, json};

use super::client::{Gateway, LEGACY, MODERN, message, meta};
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
    let capitals = gateway.request("POST").header("mcp-protocol-version", MODERN).header("mcp-method", "tools/call");
    let capitals = capitals.header("mcp-name", "pay").header("content-type", "Application/JSON;charset=utf-8");
    refused(&capitals.body(payment(r#"{"amount": 1, "amount": 1000}"#)).send_message(), 400, -32700);
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
        ("no JSON", gateway.accepting("text/html", &team, "POST").json(&json!({})), 406, "Client must accept both"),
        ("a form", post().header("content-type", "text/plain").body("{}".to_owned()), 415, "must be application/json"),
        ("a compressed body", post().header("content-encoding", "br").json(&json!({})), 415, "without compression"),
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
    for accept in ["*/*", "application/json", "application/json;q=0.9, */*;q=0.1", "application/*"] {
        let request = gateway.accepting(accept, &team, "POST");
        let answer = gateway.modern(request, "tools/list", json!({})).send_message();
        assert_eq!(answer.status, 200, "{accept}: {answer}");
    }
    let request = team.server.request("POST", &gateway.path()).bearer(&team.token);
    let answer = gateway.modern(request, "tools/list", json!({})).send_message();
    assert_eq!(answer.status, 200, "without the header: {answer}");
}

#[test]
fn a_client_that_accepts_json_alone_gets_no_streams() {
    let team = Team::new();
    let steps = "await send_status_event('half', progress=1.0)\nreturn 'done'";
    team.tool("steps").body(steps).published();
    let gateway = Gateway::new(&team, "tools", &["steps"]);
    let json = || gateway.accepting("application/json", &team, "POST");
    let call = json!({"name": "steps", "arguments": {}, "_meta": {"progressToken": 7}});
    let called = gateway.modern(json(), "tools/call", call).send_message();
    assert!(called.is_json() && called.json()["result"]["content"][0]["text"] == "done", "{called}");
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let listened = gateway.modern(json(), "subscriptions/listen", listen).send_message();
    assert_eq!(listened.status, 406, "a stream is no object: {listened}");

    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "curl", "version": "1"}});
    let first = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begun = json().json(&first).send_message();
    assert!(begun.is_json() && begun.json()["result"]["protocolVersion"] == LEGACY, "{begun}");
    let session = begun.headers["mcp-session-id"].to_str().expect("an id").to_owned();
    let send = |body: &Value| json().header("mcp-session-id", &session).json(body).send_message();
    assert_eq!(send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).status, 202);
    let params = json!({"name": "steps", "arguments": {}, "_meta": {"progressToken": "a"}});
    let called = send(&json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}));
    assert!(called.is_json() && called.json()["id"] == 5, "{called}");
    assert_eq!(called.json()["result"]["content"][0]["text"], "done", "{called}");
}

/// Wrong parameters are no missing method: each names its place, in both eras of the protocol.
#[test]
fn wrong_parameters_are_refused_with_their_places() {
    let team = Team::new();
    let gateway = payer(&team);
    let session = Session::begin(&gateway);
    for (method, params, place) in [
        ("tools/call", json!({"name": "pay", "arguments": []}), "params/arguments"),
        ("tools/call", json!({"name": "pay", "arguments": "x"}), "params/arguments"),
        ("tools/call", json!({"arguments": {}}), "params/name"),
        ("tools/call", json!({"name": 5}), "params/name"),
        ("resources/read", json!({}), "params/uri"),
        ("resources/read", json!({"uri": 1}), "params/uri"),
        ("resources/subscribe", json!({}), "params/uri"),
        ("resources/unsubscribe", json!({"uri": []}), "params/uri"),
        ("prompts/get", json!({"arguments": {}}), "params/name"),
        ("prompts/get", json!({"name": "a", "arguments": []}), "params/arguments"),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "a"}}), "params/argument"),
        ("completion/complete", json!({"argument": {"name": "a", "value": "b"}}), "params/ref"),
        ("logging/setLevel", json!({"level": "loud"}), "params/level"),
        ("tools/list", json!({"cursor": 1}), "params/cursor"),
        ("prompts/list", json!({"cursor": {}}), "params/cursor"),
        ("tasks/get", json!({}), "params/taskId"),
        ("skills/get", json!({"uri": null}), "params/uri"),
        ("tools/call", json!({"name": "pay", "_meta": {"progressToken": []}}), "params/_meta/progressToken"),
    ] {
        let modern = gateway.modern(gateway.request("POST"), method, params.clone()).send_message();
        let is_removed = ["logging/setLevel", "resources/subscribe", "resources/unsubscribe"].contains(&method);
        if is_removed {
            refused(&modern, 404, -32601);
        }
        for answer in (!is_removed).then_some(modern).into_iter().chain([session.send(method, params.clone())]) {
            let error = refused(&answer, 200, -32602);
            let message = error["message"].as_str().expect("a text");
            assert!(message.starts_with(&format!("{place}: ")), "{method} {params}: {error}");
            assert_eq!((&error["data"]["field"], &error["data"]["type"]), (&json!(place), &json!("parameter_invalid")));
            assert!(message_id(&answer).is_u64(), "{answer}");
        }
    }
    for params in [json!([]), json!("x"), json!(1)] {
        let error = refused(&session.send("tools/list", params.clone()), 200, -32602);
        assert_eq!(error["message"], "params: should be an object", "{params}");
    }
    let error = refused(&session.send("ping", json!({"_meta": []})), 200, -32602);
    assert_eq!(error["message"], "params/_meta: invalid type: array, expected an object");
    refused(&session.send("no/such", json!([])), 200, -32602);
    let unknown = refused(&session.send("no/such", json!({})), 200, -32601);
    assert!(unknown["message"].is_string());
}

#[test]
fn a_ping_needs_no_session() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    let pong = json!({"jsonrpc": "2.0", "id": "p", "result": {}});
    let alone = gateway.request("POST").json(&ping).send_message();
    assert_eq!((alone.status, alone.json()), (200, pong), "{alone}");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    refused(&gateway.request("POST").json(&list).send_message(), 400, -32600);
}

fn message_id(answer: &Answer) -> Value {
    message(answer)["id"].clone()
}

#[test]
fn requests_that_are_none_are_refused_and_not_ignored() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let session = Session::begin(&gateway);
    let send = |body: &Value| session.request("POST").json(body).send_message();
    for (body, id, text) in [
        (json!({"jsonrpc": "2.0", "id": null, "method": "tools/list"}), Value::Null, "id: should be"),
        (json!({"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}), Value::Null, "id: should be"),
        (json!({"jsonrpc": "2.0", "id": [1], "method": "tools/list"}), Value::Null, "id: should be"),
        (json!({"jsonrpc": "2.0", "id": u64::MAX, "method": "tools/list"}), Value::Null, "id: should be"),
        (json!({"id": 4, "method": "tools/list"}), json!(4), "jsonrpc: should be"),
        (json!({"jsonrpc": "1.0", "id": "a", "method": "tools/list"}), json!("a"), "jsonrpc: should be"),
        (json!({"jsonrpc": "2.0", "id": 4, "method": 7}), json!(4), "method: should be"),
        (json!({"jsonrpc": "2.0", "id": 4}), json!(4), "The body is not a JSON-RPC 2.0 message"),
        (json!([{"jsonrpc": "2.0", "id": 4, "method": "ping"}]), Value::Null, "Batches are not supported"),
    ] {
        let answer = send(&body);
        let error = refused(&answer, 400, -32600);
        assert!(error["message"].as_str().is_some_and(|told| told.starts_with(text)), "{body}: {error}");
        assert_eq!(message_id(&answer), id, "{body}");
    }
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
