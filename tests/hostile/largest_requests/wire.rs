//! Requests over raw connections, whose responses are counted and not kept, so that the client costs the machine little.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

/// Bytes of a response that are kept: its head, and an error.
const KEPT_BYTES: usize = 64 << 10;

/// A request that can be sent several times.
#[derive(Clone)]
pub struct Sent {
    pub head: String,
    pub body: Arc<[u8]>,
    /// How long the connection is read. A stream ends only then.
    pub reads_for: Duration,
}

/// What came back.
#[derive(Debug)]
pub struct Returned {
    /// 0 for a connection that ended without a response, or did not answer in time.
    pub status: u16,
    pub bytes: usize,
    beginning: Vec<u8>,
}

impl Sent {
    /// A request with these headers. It is the only one of its connection.
    pub fn new(method: &str, target: &str, headers: &[(&str, &str)], body: impl Into<Arc<[u8]>>) -> Self {
        let body = body.into();
        let mut head = format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method != "GET" {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        Self { head, body, reads_for: crate::harness::PATIENCE }
    }

    /// Reads the response for a while only.
    pub fn for_a_while(mut self, time: Duration) -> Self {
        self.reads_for = time;
        self
    }

    pub fn bytes(&self) -> usize {
        self.head.len() + self.body.len()
    }

    pub fn send(&self, address: SocketAddr) -> Returned {
        let mut returned = Returned { status: 0, bytes: 0, beginning: Vec::new() };
        let Ok(mut stream) = TcpStream::connect(address) else { return returned };
        stream.set_read_timeout(Some(self.reads_for)).expect("a limit");
        // A server that refuses a body ends the connection before it was sent.
        let _ = stream.write_all(self.head.as_bytes()).and_then(|()| stream.write_all(&self.body));
        let mut buffer = vec![0; 256 << 10];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let kept = count.min(KEPT_BYTES - returned.beginning.len());
                    returned.beginning.extend_from_slice(&buffer[..kept]);
                    returned.bytes += count;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let head = String::from_utf8_lossy(&returned.beginning);
        returned.status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        returned
    }
}

impl Returned {
    /// The header of this name, in lower case.
    pub fn header(&self, name: &str) -> Option<String> {
        let head = String::from_utf8_lossy(&self.beginning).into_owned();
        let head = head.split("\r\n\r\n").next()?.to_owned();
        let found = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.map(str::to_owned)
    }

    /// The text after the head, as far as it is kept.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.beginning);
        text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    /// Whether the request was refused for its size.
    pub fn is_too_long(&self) -> bool {
        self.status == 413 || self.text().contains("parameter_too_long")
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The code of a refusal. The page of a person has none.
    pub fn code(&self) -> Option<String> {
        let error: Value = serde_json::from_str(&self.text()).ok()?;
        let code = [&error["code"], &error["error"]["code"]].into_iter().find_map(Value::as_str);
        code.map(str::to_owned)
    }

    /// Whether the request was answered, or refused for a reason.
    pub fn is_orderly(&self) -> bool {
        match self.status {
            0 => false,
            503 => self.code().is_some(),
            status => status < 500,
        }
    }
}
