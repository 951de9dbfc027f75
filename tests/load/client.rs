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
        Self::post(team.server.address(), &path, &authorization, body)
    }

    /// A client that sends another request with a JSON body.
    pub fn of_peer(address: SocketAddr, body: &Value) -> Self {
        Self::post(address, "/", "", body)
    }

    fn post(address: SocketAddr, path: &str, header: &str, body: &Value) -> Self {
        let body = body.to_string();
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: lathe\r\n{header}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        Self { stream: connect(address), request: request.into_bytes() }
    }

    pub fn get(server: &Server, path: &str) -> Self {
        let request = format!("GET {path} HTTP/1.1\r\nhost: lathe\r\n\r\n").into_bytes();
        Self { stream: connect(server.address()), request }
    }

    /// A client that sends the same request to another server.
    pub fn moved_to(self, server: &Server) -> Self {
        Self { stream: connect(server.address()), ..self }
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

impl Caller for Client {
    fn answered(&mut self) -> (Duration, String) {
        let started = Instant::now();
        self.stream.get_mut().write_all(&self.request).expect("a request is taken");
        let (head, length) = self.head();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        let time = started.elapsed();
        let body = String::from_utf8_lossy(&body).into_owned();
        assert!(head.starts_with("HTTP/1.1 200") && !body.contains("\"error\":{"), "{head}{body}");
        (time, body)
    }
}

fn connect(address: SocketAddr) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("an option");
    BufReader::new(stream)
}
