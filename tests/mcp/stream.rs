//! A request whose response is read while it arrives, over a connection that a test can end.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::client::{Gateway, LEGACY, MODERN};
use super::sessions::Session;
use crate::harness::{Team, input};

/// Time for a message to arrive.
const WAIT: Duration = Duration::from_secs(30);

/// An open response.
pub struct Stream {
    /// The id of the request.
    pub request: u64,
    lines: BufReader<TcpStream>,
}

impl Stream {
    /// Sends a request of the present version.
    pub fn open(gateway: &Gateway<'_>, method: &str, mut params: Value) -> Self {
        let name = params["name"].as_str().map_or(String::new(), |name| format!("mcp-name: {name}\r\n"));
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers = format!("mcp-protocol-version: {MODERN}\r\nmcp-method: {method}\r\n{name}");
        Self::send(gateway, &headers, 1, method, &params)
    }

    /// Sends a request of a session.
    pub fn open_of(session: &Session<'_>, method: &str, params: &Value) -> Self {
        let headers = format!("mcp-protocol-version: {LEGACY}\r\nmcp-session-id: {}\r\n", session.id);
        Self::send(session.gateway, &headers, session.next_request(), method, params)
    }

    fn send(gateway: &Gateway<'_>, headers: &str, request: u64, method: &str, params: &Value) -> Self {
        let message = json!({"jsonrpc": "2.0", "id": request, "method": method, "params": params});
        let (host, body) = (gateway.team.server.url.trim_start_matches("http://"), message.to_string());
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\naccept: application/json, text/event-stream\r\n\
            content-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
            gateway.path(),
            gateway.team.token,
            body.len()
        );
        let mut connection = TcpStream::connect(host).expect("a connection");
        connection.set_read_timeout(Some(WAIT)).expect("a timeout");
        connection.write_all((head + &body).as_bytes()).expect("a request");
        Self { request, lines: BufReader::new(connection) }
    }

    /// Reads until the response contains a text. Comments keep the connection alive, so that its timeout is not enough.
    pub fn until(&mut self, text: &str) {
        let (mut read, began) = (String::new(), Instant::now());
        while !read.contains(text) {
            assert!(began.elapsed() < WAIT, "no {text} in time: {read}");
            let bytes = self.lines.read_line(&mut read).unwrap_or_else(|error| panic!("{error} before {text}: {read}"));
            assert!(bytes > 0, "the response ended before {text}: {read}");
        }
    }

    /// Reads until a message fits.
    pub fn message(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < WAIT, "no such message in time");
            let mut line = String::new();
            let bytes = self.lines.read_line(&mut line).unwrap_or_else(|error| panic!("{error}"));
            assert!(bytes > 0, "the response ended before the message");
            let data = line.trim().strip_prefix("data:").map(str::trim).unwrap_or_default();
            match serde_json::from_str(data) {
                Ok(message) if fits(&message) => return message,
                _ => {}
            }
        }
    }
}

/// nginx, and proxies like it, collect a response before they pass it on, unless a header says otherwise.
#[test]
fn proxies_are_told_not_to_buffer_streams() {
    let team = Team::new();
    let tool = team.tool("steps").body("return 1").published();
    let gateway = Gateway::new(&team, "tools", &["steps"]);
    let session = Session::begin(&gateway);
    let path = |operation: &str| format!("/v1/{}/tool/{}/{operation}", team.organization, tool.id());
    let post = |operation: &str, body: &Value| {
        let request = team.server.request("POST", &path(operation)).bearer(&team.token);
        request.header("accept", "text/event-stream").json(body).send_message()
    };
    let run = json!({"inputs": [input(&json!({}))]});
    let call = json!({"name": "steps", "arguments": {}, "_meta": {"progressToken": 1}});
    for (what, answer) in
        [("a run", post("version/1.0.0/invoke", &run)), ("a call in a session", session.send("tools/call", call))]
    {
        let kind = answer.headers["content-type"].to_str().expect("text").to_owned();
        let told = answer.headers.get("x-accel-buffering").and_then(|value| value.to_str().ok());
        assert!(kind.starts_with("text/event-stream") && told == Some("no"), "{what}: {answer}");
    }
    let plain = team.server.request("GET", &format!("/v1/{}/tool", team.organization)).bearer(&team.token).send();
    assert!(!plain.headers.contains_key("x-accel-buffering"), "{plain}");
}
