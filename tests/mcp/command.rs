//! `lathe mcp`: configurations of clients, and the standard streams as a transport.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use super::client::{Gateway, LEGACY, MODERN, of_text};
use super::sessions::Session;
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
    lines_of(&team.lathe().run_with(&["mcp", "serve", "--stdio", "tools"], &input).ok().stdout)
}

fn lines_of(output: &str) -> Vec<Value> {
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

fn first(id: u64, version: &str) -> Value {
    let params =
        json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "pipe", "version": "0.9"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
}

/// A client need not wait for an answer before it writes its next message.
#[test]
fn messages_that_come_at_once_are_forwarded_in_their_order() {
    let team = Team::new();
    of_text(team.tool("shout")).body("return tool_input['text'].upper()").published();
    let _gateway = Gateway::new(&team, "tools", &["shout"]);
    let mut messages = vec![first(0, LEGACY), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})];
    messages.push(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
    messages.extend((2..40).map(|id| {
        let params = json!({"name": "shout", "arguments": {"text": format!("n{id}")}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    }));
    let answers = served(&team, &messages);
    assert_eq!(answers[0]["result"]["protocolVersion"], LEGACY, "{answers:?}");
    let answer = |id: u64| {
        let found = answers.iter().find(|answer| answer["id"] == id);
        found.unwrap_or_else(|| panic!("no answer to {id}: {answers:?}"))
    };
    assert!(answer(1)["result"]["tools"].is_array(), "{}", answer(1));
    for id in 2..40 {
        assert_eq!(answer(id)["result"]["content"][0]["text"], format!("N{id}"), "{}", answer(id));
    }
}

#[test]
fn every_request_is_answered_with_its_id() {
    let team = Team::new();
    let _gateway = Gateway::new(&team, "tools", &[]);
    let without_session = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let wrong = json!({"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"arguments": []}});
    // The server reads no id in ambiguous JSON.
    let ambiguous = r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":1,"a":2}}"#;
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/nothing"});
    let input = format!("{without_session}\n{notification}\n{wrong}\n{ambiguous}\n");
    let answers = lines_of(&team.lathe().run_with(&["mcp", "serve", "--stdio", "tools"], &input).ok().stdout);
    let mut ids: Vec<_> = answers.iter().map(|answer| answer["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["\"b\"", "1", "7"], "{answers:?}");
    assert!(answers.iter().all(|answer| answer["error"]["code"].is_i64()), "{answers:?}");
}

/// The version on which both have agreed is that of the server's answer.
#[test]
fn a_client_of_an_unknown_version_is_served_in_one_of_the_servers() {
    let team = Team::new();
    let _gateway = Gateway::new(&team, "tools", &[]);
    let messages = [
        first(0, "1999-01-01"),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}),
    ];
    let answers = served(&team, &messages);
    assert!(answers.iter().any(|answer| answer["id"] == 1 && answer["result"]["tools"].is_array()), "{answers:?}");
}

/// The server ends a session that was not used for a while, and the client at the standard streams cannot know that there was one.
#[test]
fn a_session_that_the_server_has_ended_is_begun_anew() {
    let team = Team::new();
    let gateway = Gateway::new(&team, "tools", &[]);
    let mut command = team.lathe().command(&["mcp", "serve", "--stdio", "tools"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut ask = |message: &Value| {
        writeln!(input, "{message}").expect("a line");
        loop {
            let line = lines.next().expect("an answer").expect("a line");
            let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if answer["id"] == message["id"] {
                return answer;
            }
        }
    };
    assert!(ask(&first(0, LEGACY))["result"].is_object());
    // As many sessions as a user has at the same time: the one of the client was used the longest time ago.
    let others: Vec<_> = (0..50).map(|_| Session::begin(&gateway)).collect();
    let listed = ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    drop((input, others));
    assert!(child.wait().expect("an end").success());
}
