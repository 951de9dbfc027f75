//! A client with little overhead: one connection, the same request again and again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::harness::{Server, Team, Tool};

/// A source of successful calls.
pub trait Caller {
    /// Returns the duration of a call and its response.
    fn answered(&mut self) -> (Duration, String);

    fn call(&mut self) -> Duration {
        self.answered().0
    }
}

impl Caller for Box<dyn Caller> {
    fn answered(&mut self) -> (Duration, String) {
        (**self).answered()
    }
}

pub struct Client {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Client {
    /// A client that calls a tool.
    pub fn new(team: &Team, tool: &Tool<'_>, body: &Value) -> Self {
        let path = format!("/v1/{}/tool/{}/version/%3E%3D0/invoke", team.organization, tool.id());
        let authorization = format!("authorization: Bearer {}\r\n", team.token);
        Self::sending(&team.server, post(&path, &authorization, body))
    }

    /// A client that sends another request with a JSON body.
    pub fn of_peer(address: SocketAddr, body: &Value) -> Self {
        Self { stream: connect(address), request: post("/", "", body) }
    }

    /// A client that sends a request of any kind.
    pub fn sending(server: &Server, request: Vec<u8>) -> Self {
        Self { stream: connect(server.address()), request }
    }

    pub fn get(server: &Server, path: &str) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nhost: lathe\r\n\r\n").into_bytes();
        Self { stream: connect(server.address()), request }
    }

    /// A client that sends the same request to another server.
    pub fn moved_to(self, server: &Server) -> Self {
        Self { stream: connect(server.address()), ..self }
    }

    /// Reads the headers, with the length of the body; `None` for a body in chunks.
    fn head(&mut self) -> (String, Option<usize>) {
        let (mut head, mut length) = (String::new(), None);
        loop {
            let start = head.len();
            self.stream.read_line(&mut head).expect("a line of the head");
            let line = head[start..].trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().ok();
            }
            if line.is_empty() {
                return (head, length);
            }
        }
    }
}

impl Client {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).expect("a body");
        bytes
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).expect("the length of a chunk");
            let length = usize::from_str_radix(line.trim(), 16).expect("a length");
            let chunk = self.bytes(length + 2);
            if length == 0 {
                return body;
            }
            body.extend_from_slice(&chunk[..length]);
        }
    }
}

impl Caller for Client {
    fn answered(&mut self) -> (Duration, String) {
        let started = Instant::now();
        self.stream.get_mut().write_all(&self.request).expect("a request is taken");
        let (head, length) = self.head();
        let body = match length {
            Some(length) => self.bytes(length),
            None => self.chunks(),
        };
        let time = started.elapsed();
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(head.starts_with("HTTP/1.1 200") && !body.contains("\"error\":{"), "{head}{body}");
        (time, body)
    }
}

/// A request with a JSON body.
pub fn post(path: &str, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-type: application/json\r\n");
    format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes()
}

fn connect(address: SocketAddr) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("an option");
    BufReader::new(stream)
}
