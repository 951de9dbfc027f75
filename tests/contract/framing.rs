//! Requests whose framing a proxy in front of the server may read differently. They are refused, and no request after
//! them is answered.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::harness::{PATIENCE, Server, Team};

const LIVE: &str = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";

/// Returns everything that the server sends before it closes the connection.
fn exchange(server: &Server, requests: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    stream.write_all(requests.as_bytes()).expect("the requests are taken");
    let mut answers = String::new();
    stream.read_to_string(&mut answers).expect("answers, and the end of the connection");
    answers
}

fn statuses(answers: &str) -> Vec<&str> {
    answers.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)).collect()
}

#[test]
fn ambiguous_requests_are_refused_and_the_connection_is_closed() {
    let server = Server::shared();
    let chunks = "0\r\n\r\n";
    for (request, what) in [
        ("GET /health/live HTTP/1.1\nhost: x\n\n".to_owned(), "bare line feeds"),
        ("GET /health/live HTTP/1.1\r\nhost: x\r\nx: 1\ny: 2\r\n\r\n".to_owned(), "a bare line feed in the midst"),
        ("GET /health/live HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n".to_owned(), "two hosts"),
        (
            format!("POST /v1/a/tool HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n{chunks}"),
            "two codings",
        ),
        (
            format!(
                "POST /v1/a/tool HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"
            ),
            "two headers with codings",
        ),
        (
            format!("POST /v1/a/tool HTTP/1.1\r\nhost: x\r\ntransfer-encoding: xchunked\r\n\r\n{chunks}"),
            "an unknown coding",
        ),
        (
            format!(
                "POST /v1/a/tool HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"
            ),
            "a length and a coding",
        ),
        (
            "POST /v1/a/tool HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n1".to_owned(),
            "two lengths",
        ),
    ] {
        let answers = exchange(&server, &format!("{request}{LIVE}"));
        assert_eq!(statuses(&answers), ["400"], "{what}: {answers}");
        for words in ["malformed_http", "connection: close\r\n", "cache-control: no-store\r\n", "nosniff\r\n"] {
            assert!(answers.contains(words), "{what}: {words:?} is missing in {answers}");
        }
    }
}

/// Empty lines before a request fill the buffer of the head. The kernel may reset the connection before the refusal is read.
#[test]
fn nothing_is_read_after_a_head_that_is_too_large() {
    let server = Server::shared();
    let ambiguous = format!("GET /health/live HTTP/1.1\nhost: x\nhost: y\n\n{LIVE}");
    for (first, second) in [(32_760, 20), (30_000, 10_000), (40_000, 0)] {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let mut answers = Vec::new();
        let sent = stream
            .write_all("\r\n".repeat(first).as_bytes())
            .and_then(|()| stream.write_all(format!("{}{ambiguous}", "\r\n".repeat(second)).as_bytes()));
        // The server may have closed the connection.
        drop(sent.and_then(|()| stream.read_to_end(&mut answers)));
        let answers = String::from_utf8_lossy(&answers);
        assert!(!answers.contains("HTTP/1.1 200"), "{first} and {second}: {answers}");
    }
}

#[test]
fn requests_before_it_on_the_same_connection_are_answered() {
    let team = Team::new();
    let bad = format!("GET /health/live HTTP/1.1\nhost: x\n\n{LIVE}");
    let answers = exchange(&team.server, &format!("{LIVE}{LIVE}{bad}"));
    assert_eq!(statuses(&answers), ["200", "200", "400"], "{answers}");
    // After a complete body, so that the connection stays open.
    let body = format!(
        "POST /v1/{}/tool HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: 4\r\n\r\n\n{{}}\n",
        team.organization, team.token
    );
    let answers = exchange(&team.server, &format!("{LIVE}{body}{bad}"));
    assert_eq!(statuses(&answers), ["200", "422", "400"], "{answers}");
}

/// Only the reader of the body finds the end of the last chunk.
#[test]
fn nothing_is_read_after_a_chunked_body() {
    let server = Server::shared();
    let chunked = "POST /v1/a/tool HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n";
    let answers = exchange(&server, &format!("{chunked}GET /health/live HTTP/1.1\nhost: x\n\n"));
    assert_eq!(statuses(&answers), ["401"], "{answers}");
    assert!(answers.contains("connection: close\r\n"), "{answers}");
}
