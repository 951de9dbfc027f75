//! Requests that an HTTP client would not send, over a raw connection.

use std::io::{Read, Write};
use std::net::TcpStream;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::{Answer, PATIENCE};

/// Sends the head of a request with this content length, and returns the response.
pub fn exchange(request: &reqwest::Request, body_bytes: u64) -> Answer {
    let url = request.url();
    let address = (url.host_str().expect("a host"), url.port().expect("a port"));
    let target = url.as_str().trim_start_matches(&url.origin().ascii_serialization());
    let mut head = format!("{} {target} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", request.method(), address.0);
    for (name, value) in request.headers() {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().expect("text")));
    }
    head.push_str(&format!("content-length: {body_bytes}\r\n\r\n"));
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    stream.write_all(head.as_bytes()).expect("the head is taken");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer");
    parse(&bytes)
}

/// Reads a response up to the end of the connection.
pub fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head: {:?}", String::from_utf8_lossy(bytes)));
    let head = String::from_utf8(bytes[..end].to_vec()).expect("UTF-8");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let mut headers = HeaderMap::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        let name = HeaderName::try_from(name).expect("a name");
        headers.append(name, HeaderValue::try_from(value).expect("a value"));
    }
    Answer { status: status.expect("a status"), headers, body: bytes[end + 4..].to_vec() }
}
