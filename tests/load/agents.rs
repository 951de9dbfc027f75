//! What MCP clients cost: a call beside the same call over the HTTP API, the list of a large catalogue, and subscriptions that
//! stay open.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::client::{Client, post};
use super::{CLIENTS, RUST_TOOL, calling, measured, one, together};
use crate::harness::{Options, Server, Team, eventually, input};
use crate::hostile::installed::{Installer, Settings};
use crate::mcp::client::{Gateway, MODERN, meta};

/// Tools of the large catalogue: the most that an agent has.
const TOOLS: usize = 500;
/// Tools of the large catalogue in a plain test run.
const FEW_TOOLS: usize = 5;
/// Rounds of calls over HTTP and by `tools/call`, one after the other: a disk is faster at one time than at another.
const ROUNDS: usize = 5;
/// Subscriptions that are open at the same time.
const SUBSCRIPTIONS: usize = 1_000;
/// Subscriptions in a plain test run.
const FEW_SUBSCRIPTIONS: usize = 20;

#[test]
fn agents_under_load() {
    let (time, is_long) = measured();
    let arguments = ["connections", "connections-per-address", "requests-per-user", "requests-per-organization"];
    let streams = ["streams-per-user", "streams-per-organization"];
    let arguments = arguments.iter().chain(&streams).map(|name| format!("--{name}=2048")).collect();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let tool = Installer::new(&team).install("rust", RUST_TOOL, Settings::default());
    let gateway = Gateway::new(&team, "one", &["rust"]);
    let text = json!({"text": "hello"});
    let direct = || calling(&team, &tool, &input(&text), 1);
    let called = || Client::sending(&server, mcp(&gateway, "tools/call", json!({"name": "rust", "arguments": text})));

    println!("one client, milliseconds");
    let [invoke, call] = [one(time, direct), one(time, called)];
    invoke.print("rust tool over HTTP");
    call.print("rust tool by tools/call");
    println!("tools/call: {:.2} times an invoke", call.p50() / invoke.p50());
    let desk = Gateway::of_type(&team, "desk", "agent").with(&[]);
    desk.call("preference_set", json!({"key": "tone", "value": "formal"}));
    let wish = json!({"name": "preference_get", "arguments": {"key": "tone"}});
    let kept = one(time, || Client::sending(&server, mcp(&desk, "tools/call", wish.clone())));
    kept.print("preference_get by tools/call");
    println!("a call of the library: {:.2} times that of a published tool", kept.p50() / call.p50());
    println!("{CLIENTS} clients, calls a second");
    let round = || (together(time, CLIENTS, &direct), together(time, CLIENTS, &called));
    let mut rounds = [(); ROUNDS].map(|()| round());
    rounds.sort_by(|one, other| (one.0 / one.1).total_cmp(&(other.0 / other.1)));
    for (invokes, calls) in rounds {
        println!(
            "{invokes:.0} over HTTP, {calls:.0} by tools/call: {:.2} times the time of an invoke",
            invokes / calls
        );
    }
    let (invokes, calls) = rounds[ROUNDS / 2];
    println!("the median of {ROUNDS} rounds: {:.2}", invokes / calls);

    let count = if is_long { TOOLS } else { FEW_TOOLS };
    let catalogue = catalogue(&team, count);
    let listed = one(time, || Client::sending(&server, mcp(&catalogue, "tools/list", json!({}))));
    listed.print(&format!("tools/list of {count} tools"));
    let first = json!({"name": "tool_0", "arguments": text});
    let of_many = one(time, || Client::sending(&server, mcp(&catalogue, "tools/call", first.clone())));
    of_many.print(&format!("tools/call through an agent with {count} tools"));
    println!("{:.2} times a call through an agent with one", of_many.p50() / call.p50());
    subscriptions(&gateway, if is_long { SUBSCRIPTIONS } else { FEW_SUBSCRIPTIONS });
}

/// An agent with many tools.
fn catalogue(team: &Team, count: usize) -> Gateway<'_> {
    let installer = Installer::new(team);
    let gateway = Gateway::of_scope(team, "many", "organization");
    for number in 0..count {
        let tool = installer.install(&format!("tool_{number}"), RUST_TOOL, Settings::default());
        let assigned = json!({"tool_id": tool.id(), "version_constraint": ">=1"});
        team.post(&format!("/agent/{}/assignment", gateway.id), &assigned).expect(204);
    }
    gateway.with(&[])
}

/// Opens subscriptions, and prints the memory that the server takes for them.
fn subscriptions(gateway: &Gateway<'_>, count: usize) {
    let server = &gateway.team.server;
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let request = mcp(gateway, "subscriptions/listen", listen);
    let before = resident_bytes(server);
    let mut open: Vec<_> = (0..count).map(|_| subscription(server, &request)).collect();
    let grown = resident_bytes(server).saturating_sub(before);
    println!("{count} open subscriptions: {:.1} MB", grown as f64 / 1e6);
    // Each of them is alive: it is told of a deployment.
    gateway.team.lathe().ok(&["agent", "unassign", &gateway.slug, "rust"]);
    gateway.team.lathe().ok(&["agent", "deploy", &gateway.slug]);
    for stream in &mut open {
        let mut line = String::new();
        while !line.contains("notifications/tools/list_changed") {
            line.clear();
            assert!(stream.read_line(&mut line).expect("a line") > 0, "the stream ended");
        }
    }
}

fn subscription(server: &Server, request: &[u8]) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.write_all(request).expect("a request");
    let (mut stream, mut line) = (BufReader::new(stream), String::new());
    while !line.contains("acknowledged") {
        line.clear();
        assert!(stream.read_line(&mut line).expect("a line") > 0, "the subscription was refused");
    }
    stream
}

fn mcp(gateway: &Gateway<'_>, method: &str, mut params: Value) -> Vec<u8> {
    let name = params["name"].as_str().map_or(String::new(), |name| format!("mcp-name: {name}\r\n"));
    params["_meta"] = meta();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let headers = format!(
        "authorization: Bearer {}\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: {MODERN}\r\n\
        mcp-method: {method}\r\n{name}",
        gateway.team.token
    );
    post(&gateway.path(), &headers, &body)
}

fn resident_bytes(server: &Server) -> u64 {
    let path = format!("/proc/{}/status", server.process_id());
    let found = eventually("the memory of the server", || {
        let status = std::fs::read_to_string(&path).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    found * 1024
}
