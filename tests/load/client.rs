//! A client that costs little itself: one connection, one request, again and again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::harness::{Server, Team, Tool};

pub struct Client {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Client {
    /// Calls of a tool.
    pub fn new(team: &Team, tool: &Tool<'_>, body: &Value) -> Self {
        let path = format!("/v1/{}/tool/{}/version/%3E%3D0/invoke", team.organization, tool.id());
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: lathe\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            team.token,
            body.len()
        );
        Self { stream: connect(&team.server), request: (head + &body).into_bytes() }
    }

    pub fn get(server: &Server, path: &str) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nhost: lathe\r\n\r\n").into_bytes();
        Self { stream: connect(server), request }
    }

    /// The same requests to another server.
    pub fn moved_to(self, server: &Server) -> Self {
        Self { stream: connect(server), ..self }
    }

    /// How long it took to be answered, well.
    pub fn call(&mut self) -> Duration {
        let started = Instant::now();
        self.stream.get_mut().write_all(&self.request).expect("a request is taken");
        let (head, length) = self.head();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        let time = started.elapsed();
        let body = String::from_utf8_lossy(&body);
        assert!(head.starts_with("HTTP/1.1 200") && !body.contains("\"error\":{"), "{head}{body}");
        time
    }

    fn head(&mut self) -> (String, usize) {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let start = head.len();
            self.stream.read_line(&mut head).expect("a line of the head");
            let line = head[start..].trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().expect("a number");
            }
            if line.is_empty() {
                return (head, length);
            }
        }
    }
}

fn connect(server: &Server) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_nodelay(true).expect("an option");
    BufReader::new(stream)
}
