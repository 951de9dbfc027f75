//! A request whose response is read while it arrives, over a connection that a test can end.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::client::{Gateway, MODERN};

/// Time for a message to arrive.
const WAIT: Duration = Duration::from_secs(30);

/// An open response.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Sends a request of the present version.
    pub fn open(gateway: &Gateway<'_>, method: &str, mut params: Value) -> Self {
        let host = gateway.team.server.url.trim_start_matches("http://");
        let name = params["name"].as_str().map_or(String::new(), |name| format!("mcp-name: {name}\r\n"));
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\naccept: application/json, text/event-stream\r\n\
            content-type: application/json\r\nmcp-protocol-version: {MODERN}\r\nmcp-method: {method}\r\n{name}\
            content-length: {}\r\n\r\n",
            gateway.path(),
            gateway.team.token,
            body.len()
        );
        let mut connection = TcpStream::connect(host).expect("a connection");
        connection.set_read_timeout(Some(WAIT)).expect("a timeout");
        connection.write_all((head + &body).as_bytes()).expect("a request");
        Self(BufReader::new(connection))
    }

    /// Reads until the response contains a text. Comments keep the connection alive, so that its timeout is not enough.
    pub fn until(&mut self, text: &str) {
        let (mut read, began) = (String::new(), Instant::now());
        while !read.contains(text) {
            assert!(began.elapsed() < WAIT, "no {text} in time: {read}");
            let bytes = self.0.read_line(&mut read).unwrap_or_else(|error| panic!("{error} before {text}: {read}"));
            assert!(bytes > 0, "the response ended before {text}: {read}");
        }
    }
}
