//! The bounds of running and waiting git operations.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use crate::harness::{Options, Server, Team, eventually, fetch};

fn server() -> Arc<Server> {
    let arguments = ["--metrics-listen", "127.0.0.1:0", "--parallel-git", "2"].map(str::to_owned).to_vec();
    Server::private(&Options { arguments, ..Options::default() })
}

/// The numbers of running and of waiting git operations.
fn operations(server: &Server) -> (f64, f64) {
    let line = eventually("the listener of metrics", || {
        Some(server.log_about("serving metrics")).filter(|line| !line.is_empty())
    });
    let url = line.split_whitespace().find_map(|word| word.split_once("url=")).expect("a URL").1.to_owned();
    let text = fetch(url.trim_matches('"'));
    let value = |name: &str| {
        let sample = format!("lathe_work_{name}{{work=\"git\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&sample)).map_or(0.0, |value| value.parse().expect("a number"))
    };
    (value("running"), value("waiting"))
}

fn wait_for(server: &Server, expected: (f64, f64)) {
    eventually("git operations", || (operations(server) == expected).then_some(()));
}

fn send(team: &Team, method: &str, path: &str, rest: &str) -> TcpStream {
    let mut stream = TcpStream::connect(team.server.address()).expect("a connection");
    let head = format!(
        "{method} /v1/{}/tool/git/tools.git/{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n{rest}",
        team.organization, team.token
    );
    stream.write_all(head.as_bytes()).expect("a request");
    stream
}

/// A push that stalls after its beginning.
fn begin_push(team: &Team) -> TcpStream {
    let rest =
        "content-type: application/x-git-receive-pack-request\r\ntransfer-encoding: chunked\r\n\r\n4\r\n0077\r\n";
    send(team, "POST", "git-receive-pack", rest)
}

#[test]
fn one_organization_cannot_use_all_operations() {
    let server = server();
    let (greedy, other) = (Team::on(&server), Team::on(&server));
    // The repositories must exist first.
    for team in [&greedy, &other] {
        team.repository.ok(&["ls-remote", &team.git_url()]);
    }
    wait_for(&server, (0.0, 0.0));
    let held: Vec<TcpStream> = (0..3).map(|_| begin_push(&greedy)).collect();
    wait_for(&server, (1.0, 2.0));
    other.push();
    // Two operations are running. A third organisation waits, and continues when one ends.
    let others_push = begin_push(&other);
    wait_for(&server, (2.0, 2.0));
    let third = Team::on(&server);
    let mut waits = send(&third, "GET", "info/refs?service=git-upload-pack", "\r\n");
    wait_for(&server, (2.0, 3.0));
    drop(others_push);
    let mut answer = [0; 12];
    waits.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 200");
    drop(held);
    wait_for(&server, (0.0, 0.0));
}

#[test]
fn requests_beyond_the_queue_are_refused_with_retry_after() {
    let server = server();
    let team = Team::on(&server);
    team.repository.ok(&["ls-remote", &team.git_url()]);
    wait_for(&server, (0.0, 0.0));
    // One operation is running, 64 are waiting.
    let _held: Vec<TcpStream> = (0..65).map(|_| begin_push(&team)).collect();
    wait_for(&server, (1.0, 64.0));
    let answer = team.request("GET", "/tool/git/tools.git/info/refs?service=git-upload-pack").send();
    assert_eq!((answer.status, answer.code().as_str()), (503, "git_busy"), "{answer}");
    assert!(answer.headers.contains_key("retry-after"), "{:?}", answer.headers);
    assert!(answer.detail().contains("git operations of this organisation"), "{answer}");
    // Another organisation is not refused.
    let other = Team::on(&server);
    other.push();
}
