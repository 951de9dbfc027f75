//! Sends bytes over a connection of their own, and judges what comes back.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A server that says nothing for so long may be waiting for more; it is told that there is no more.
const PAUSE: Duration = Duration::from_millis(400);
/// So often it may say nothing in all. Beyond it the connection hangs.
const PAUSES_MAX: usize = 100;

/// Everything that the server sends until it closes.
pub fn of(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PAUSE)).expect("a limit");
    // It may refuse and close before it has read all.
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
                // Closed with bytes of ours unread.
                Err(_) => return answer,
            }
        }
        // Gone already is as good.
        let _ = stream.shutdown(Shutdown::Write);
    }
    answer.extend_from_slice(b"HTTP/1.1 599 the connection was left open");
    answer
}

/// The status of the first answer.
pub fn status(answer: &[u8]) -> String {
    answer.get(9..12).map_or_else(|| "closed".to_owned(), |status| String::from_utf8_lossy(status).into_owned())
}

/// What is wrong with an answer, if anything is.
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
    // What only asked for a head gets no body.
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
