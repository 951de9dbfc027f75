//! Requests whose connections end before their bodies do.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::json;

use crate::harness::{
    Options, PATIENCE, PackageIndex, Server, Site, Team, count_record_events, eventually, input, lock_line,
    package_wheel,
};

/// Sends the head of a request and a part of its body, then disconnects.
fn cut_off(team: &Team, path: &str, headers: &str, body: &[u8]) {
    let mut stream = TcpStream::connect(team.server.address()).expect("a connection");
    let head = format!(
        "POST /v1/{}{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n{headers}\r\n\r\n",
        team.organization, team.token
    );
    stream.write_all(head.as_bytes()).expect("a head");
    stream.write_all(body).expect("half a body");
    stream.shutdown(Shutdown::Write).expect("an end");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut answer = Vec::new();
    // The server may or may not send a response.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(!answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.1 5"), "{answer}");
}

#[test]
fn half_a_body_does_nothing() {
    let team = Team::new();
    let tool = team.tool("target").published();
    let invoke = format!("/tool/{}/version/1.0.0/invoke", tool.id());
    let body = json!({"inputs": [input(&json!({}))]}).to_string();
    let (half, length) = (&body.as_bytes()[..body.len() / 2], format!("content-length: {}", body.len()));
    cut_off(&team, &invoke, &length, half);
    cut_off(&team, &invoke, &length, b"");
    cut_off(&team, &invoke, "transfer-encoding: chunked", b"ff\r\n{\"inputs\"");
    cut_off(&team, "/tool/", &length, br#"{"name": "half", "descr"#);
    let publish = format!("/tool/{}/version", tool.id());
    cut_off(&team, &publish, &length, br#"{"project_path": "tools/tar"#);
    assert_eq!(team.history().len(), 0);
    assert_eq!(tool.versions(), ["1.0.0"]);
    assert_eq!(team.get("/tool/")["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(tool.invoke(json!({"a": 1})).output(), r#"{"a":1}"#);
}

#[test]
fn half_a_push_does_nothing() {
    let team = Team::new();
    team.tool("target");
    let before = team.push();
    let path = "/tool/git/tools.git/git-receive-pack";
    cut_off(&team, path, "content-length: 100000", b"00a80000000000000000000000000000000000000000 ");
    let tip = team.repository.ok(&["ls-remote", &team.git_url(), &team.branch()]);
    assert!(tip.starts_with(&before), "{tip}");
    assert_ne!(team.push(), before);
}

#[test]
fn a_client_that_disconnects_loses_its_answer_and_not_its_record() {
    let site = Site::serve();
    let team = Team::on(&Server::private(&Options::reaching_loopback()));
    let tool = team.tool("sleeper").held_by(&site).published();
    let body = json!({"inputs": [input(&site.hold())]}).to_string();
    let mut stream = TcpStream::connect(team.server.address()).expect("a connection");
    let head = format!(
        "POST /v1/{}/tool/{}/version/1.0.0/invoke HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        team.organization,
        tool.id(),
        team.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("a request");
    site.held.is_reached_by(1);
    drop(stream);
    site.held.open();
    eventually("the end of the record", || (count_record_events(&team, tool.id()).1 == 1).then_some(()));
    assert_eq!(team.history()[0]["invocation_status"]["output"], "rested");
}

#[test]
fn a_publication_continues_without_its_client() {
    let wheel = package_wheel("words", "1.0", &[("words.py", "")]);
    let index = PackageIndex::serve_held(&[("words", "words-1.0-py3-none-any.whl", &wheel)]);
    let options = Options { python_index: Some(index.url.clone()), has_own_cache: true, ..Options::default() };
    let team = Team::on(&Server::private(&options));
    let tool = team.tool("slow").with_file("requirements.lock", &lock_line("words", "1.0", &wheel));
    let tool = tool.body("return 'done'").pushed();
    let body = json!({"project_path": tool.path(), "bump_type": "minor"}).to_string();
    let mut stream = TcpStream::connect(team.server.address()).expect("a connection");
    let head = format!(
        "POST /v1/{}/tool/{}/version HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        team.organization,
        tool.id(),
        team.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("a request");
    index.held.is_reached_by(1);
    drop(stream);
    index.held.open();
    eventually("the version", || (tool.versions() == ["1.0.0"]).then_some(()));
    assert_eq!(tool.invoke(json!({})).output(), "done");
}
