//! Work that may outlive its request: idempotency keys, asynchronous operations, event streams, reverted turns.

mod checks;
mod conversations;
mod gate;
mod keys;
mod later;
mod provenance;
mod restarts;
mod retention;
mod snapshots;
mod streams;
mod warnings;

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::{Team, Tool, eventually, input};

/// Calls a tool with one input.
fn call(parameters: &Value) -> Value {
    json!({"inputs": [input(parameters)]})
}

fn invoke_path(tool: &Tool<'_>) -> String {
    format!("/tool/{}/version/%3E%3D0/invoke", tool.id())
}

/// Sends a complete request over a new connection, which the test may drop.
fn sent(team: &Team, path: &str, headers: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let mut stream = TcpStream::connect(team.server.address()).expect("a connection");
    let head = format!(
        "POST /v1/{}{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        team.organization,
        team.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("a request");
    stream
}

/// Reads until data arrives.
fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut said, mut piece) = (String::new(), [0; 1024]);
    while !said.contains(wanted) {
        let length = stream.read(&mut piece).expect("an answer");
        assert_ne!(length, 0, "the answer ended without {wanted:?}: {said}");
        said.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    said
}

/// Sends a request for a stream, and waits until the work has begun.
fn begun(team: &Team, path: &str, headers: &str, body: &Value) -> TcpStream {
    let mut stream = sent(team, path, &format!("accept: text/event-stream\r\n{headers}"), body);
    assert!(read_until(&mut stream, "\r\n\r\n").starts_with("HTTP/1.1 200"));
    stream
}

/// Queries an operation until it has ended.
fn ended(team: &Team, location: &str) -> Value {
    eventually("the end of the operation", || {
        let operation = team.server.request("GET", location).bearer(&team.token).send().expect(200);
        (operation["status"] != "running").then_some(operation)
    })
}
