//! `lathe mcp`: configurations of clients, and the standard streams as a transport.

use serde_json::{Value, json};

use super::client::{Gateway, LEGACY, MODERN, of_text};
use crate::harness::Team;

#[test]
fn a_configuration_has_the_url_of_the_agent() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let lathe = team.lathe();
    let pasted: Value = serde_json::from_str(&lathe.ok(&["mcp", "config", "tools", "--client", "claude"])).unwrap();
    assert_eq!(pasted["mcpServers"]["tools"]["url"], format!("{}{}", team.server.url, gateway.path()), "{pasted}");
    lathe.run(&["mcp", "config", "nothing", "--client", "claude"]).refused(1, &["there is no agent `nothing`"]);
}

/// Sends messages to `lathe mcp serve` and returns its lines.
fn served(team: &Team, messages: &[Value]) -> Vec<Value> {
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let output = team.lathe().run_with(&["mcp", "serve", "--stdio", "tools"], &input).ok().stdout;
    output.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn a_client_of_the_present_version_calls_over_the_standard_streams() {
    let team = Team::new();
    of_text(team.tool("shout")).body("return tool_input['text'].upper()").published();
    let _gateway = Gateway::new(&team, "tools", &["shout"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "shout", "arguments": {"text": "hi"}, "_meta": meta,
    }});
    let answers = served(&team, &[call]);
    assert_eq!(
        (&answers[0]["id"], &answers[0]["result"]["content"][0]["text"]),
        (&json!(3), &json!("HI")),
        "{answers:?}"
    );
}

/// Readers that take other characters for ends of lines, as Python's `splitlines` does, read one message a line.
#[test]
fn a_message_is_one_line_for_every_reader() {
    let team = Team::new();
    team.tool("separates").body("return 'a\u{2028}b\u{85}c'").published();
    let _gateway = Gateway::new(&team, "tools", &["separates"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "separates", "arguments": {}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
    let output = team.lathe().run_with(&["mcp", "serve", "--stdio", "tools"], &format!("{call}\n")).ok().stdout;
    assert!(output.contains("a\\u2028b\\u0085c") && !output.contains(['\u{2028}', '\u{85}']), "{output:?}");
}

#[test]
fn a_message_that_is_refused_is_answered_with_its_id() {
    let team = Team::new();
    let _gateway = Gateway::new(&team, "tools", &[]);
    let line = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}"#;
    let output = team.lathe().run_with(&["mcp", "serve", "--stdio", "tools"], &format!("{line}\n")).ok().stdout;
    let answer: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(9), &json!(-32700)), "{answer}");
}

#[test]
fn a_client_of_an_earlier_version_has_its_session() {
    let team = Team::new();
    let _gateway = Gateway::new(&team, "tools", &[]);
    let params = json!({
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "old-client", "version": "0.9"},
    });
    let answers = served(&team, &[json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})]);
    assert_eq!(answers[0]["result"]["protocolVersion"], LEGACY, "{answers:?}");
}
