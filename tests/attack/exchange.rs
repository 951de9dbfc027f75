//! Sends bytes over a new connection, and checks the response.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::harness::PATIENCE;

/// Time without data after which the client ends its side, since the server may be waiting for more bytes.
const PAUSE: Duration = Duration::from_millis(400);
/// Most such pauses of a connection, five minutes in all. Beyond them the connection counts as hanging.
const PAUSES_MAX: usize = 750;

/// Returns the response to a valid request, up to the end of the connection. The client keeps its side open, since the
/// server does not answer a client that has gone.
pub fn of_proper(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    exchanged(address, bytes, PATIENCE)
}

/// Returns everything that the server sends before it closes the connection.
pub fn of(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    exchanged(address, bytes, PAUSE)
}

fn exchanged(address: SocketAddr, bytes: &[u8], pause: Duration) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(pause)).expect("a limit");
    // The server may refuse the request and close the connection before it has read everything.
    let mut writing = stream.try_clone().expect("a second handle");
    std::thread::scope(|scope| {
        scope.spawn(move || writing.write_all(bytes));
        answer(&mut stream)
    })
}

fn answer(stream: &mut TcpStream) -> Vec<u8> {
    let (mut answer, mut piece) = (Vec::new(), [0; 16 * 1024]);
    for _ in 0..PAUSES_MAX {
        loop {
            match stream.read(&mut piece) {
                Ok(0) => return answer,
                Ok(length) => answer.extend_from_slice(&piece[..length]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
                // A reset: the server closed the connection with unread bytes.
                Err(_) => return answer,
            }
        }
        // The connection may be closed already.
        let _ = stream.shutdown(Shutdown::Write);
    }
    answer.extend_from_slice(b"HTTP/1.1 599 the connection was left open");
    answer
}

/// Returns the status of the first response.
pub fn status(answer: &[u8]) -> String {
    answer.get(9..12).map_or_else(|| "closed".to_owned(), |status| String::from_utf8_lossy(status).into_owned())
}

/// Returns the error in a response, if there is one.
pub fn wrong(answer: &[u8]) -> Option<&'static str> {
    let is_head = |at: &usize| answer.get(at + 8) == Some(&b' ') && answer.get(at + 9).is_some_and(u8::is_ascii_digit);
    let heads: Vec<usize> = positions(answer, b"HTTP/1.").filter(is_head).collect();
    if !answer.is_empty() && heads.first() != Some(&0) {
        return Some("the answer is no HTTP");
    }
    if heads.iter().any(|at| !matches!(answer.get(at + 9), Some(b'1'..=b'4'))) {
        return Some("the server failed");
    }
    let [_] = heads[..] else { return None };
    let refused = matches!(answer.get(9), Some(b'4'));
    let body = positions(answer, b"\r\n\r\n").next().map_or(&[][..], |end| &answer[end + 4..]);
    let is_explained = || serde_json::from_slice::<Value>(body).is_ok_and(|body| body.get("detail").is_some());
    if positions(answer, b"\r\nx-request-id: ").next().is_none() && !answer.starts_with(b"HTTP/1.1 100") {
        return Some("the answer has no request id");
    }
    // Responses to HEAD have no body.
    (refused && !body.is_empty() && !is_explained()).then_some("the refusal has no detail")
}

fn positions<'b>(bytes: &'b [u8], wanted: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    bytes.windows(wanted.len()).enumerate().filter(move |(_, window)| *window == wanted).map(|(at, _)| at)
}

#[test]
fn a_failure_is_seen() {
    assert_eq!(wrong(b""), None);
    assert_eq!(wrong(b"HTTP/1.1 200 OK\r\nx-request-id: 1\r\n\r\n{}"), None);
    assert_eq!(wrong(b"HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\n\r\n{\"detail\":\"no\"}"), None);
    assert!(wrong(b"HTTP/1.1 400 Bad Request\r\n\r\n").is_some());
    assert!(wrong(b"HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\n\r\nno").is_some());
    assert!(wrong(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Later\r\n\r\n").is_some());
    assert!(wrong(b"\x15\x03\x01").is_some());
}
