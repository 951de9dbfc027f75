//! Calls that the server answers without the connection that the SDK makes for a request: they are answered alike.

use serde_json::{Value, json};

use super::client::{Gateway, MODERN, message, meta, of_text};
use super::questions::greeter;
use crate::harness::{Answer, Team};

/// The forms of responses in the order of no SDK, whose requests are therefore no plain calls.
const OTHER_ORDER: &str = "text/event-stream, application/json";

/// The status and the message of an answer, without what differs from run to run.
fn comparable(answer: &Answer) -> (u16, Value) {
    let mut message = message(answer);
    if let Some(meta) = message.pointer_mut("/result/_meta").and_then(Value::as_object_mut) {
        meta.retain(|key, _| key == "dev.lathe/error");
    }
    if let Some(result) = message["result"].as_object_mut() {
        result.remove("requestState");
    }
    (answer.status, message)
}

#[test]
fn a_plain_call_is_answered_like_every_other() {
    let team = Team::new();
    of_text(team.tool("shout")).body("return {'loud': tool_input['text'].upper()}").published();
    team.tool("fail").body("raise ValueError('no rate today')").published();
    greeter(&team);
    let gateway = Gateway::new(&team, "tools", &["shout", "fail", "greet"]);
    let asked = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    for (status, params) in [
        (200, json!({"name": "shout", "arguments": {"text": "hi"}})),
        (200, json!({"name": "shout", "arguments": {"text": 5}})),
        (200, json!({"name": "shout"})),
        (200, json!({"name": "fail", "arguments": {}})),
        (200, json!({"name": "unknown", "arguments": {}})),
        (200, json!({"name": "shout", "arguments": {"text": "hi"}, "_meta": {"dev.lathe/component": "none"}})),
        (200, json!({"name": "shout", "arguments": "hi"})),
        (200, json!({"name": "greet", "arguments": {}, "_meta": asked})),
        (400, json!({"name": "greet", "arguments": {}})),
        (400, json!({"name": "shout", "_meta": {"io.modelcontextprotocol/clientCapabilities": 1}})),
    ] {
        let send = |request| gateway.modern(request, "tools/call", params.clone()).send_message();
        let plain = send(gateway.request("POST"));
        let other = send(gateway.accepting(OTHER_ORDER, &team, "POST"));
        assert_eq!(comparable(&plain), comparable(&other), "{params}");
        assert_eq!(plain.status, status, "{params}: {plain}");
        assert_eq!(plain.is_json(), other.is_json(), "{params}");
    }
}

#[test]
fn a_call_that_contradicts_its_headers_is_refused() {
    let team = Team::new();
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    let schema = json!({"type": "object", "properties": {"region": region}});
    let tool = team.tool("rates").with_file("input.json", &schema.to_string());
    tool.manifest("input_schema = 'input.json'").body("return tool_input['region']").published();
    let gateway = Gateway::new(&team, "tools", &["rates"]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "rates", "arguments": {"region": "north"}, "_meta": meta(),
    }});
    let call = |headers: &[(&str, &str)]| {
        let mut request = gateway.request("POST").header("mcp-protocol-version", MODERN);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let answer = request.json(&body).send_message();
        (answer.status, message(&answer)["error"]["code"].as_i64())
    };
    let (method, name) = (("mcp-method", "tools/call"), ("mcp-name", "rates"));
    let (region, refused) = (("mcp-param-region", "north"), (400, Some(-32020)));
    assert_eq!(call(&[method, name, region]), (200, None));
    assert_eq!(call(&[method, name]), refused, "without the header of a parameter");
    assert_eq!(call(&[method, name, ("mcp-param-region", "south")]), refused);
    assert_eq!(call(&[method, ("mcp-name", "other"), region]), refused);
    assert_eq!(call(&[method, region]), refused, "without its name");
    assert_eq!(call(&[method, name, region, ("host", "evil.example")]).0, 403);
    assert_eq!(call(&[method, name, region, ("origin", "https://evil.example")]).0, 403);
}
