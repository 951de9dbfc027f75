//! Users who hold as many requests as they can: streams that listen, and calls that last.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Options, Server, Team, eventually, input};
use crate::mcp::client::{Gateway, MODERN, meta};

/// Time for a response to begin or to end.
const WAIT: Duration = Duration::from_secs(30);
/// Connections of the server. A user may have two listening streams, an organisation six, and twelve requests.
const CONNECTIONS: usize = 24;

fn server(arguments: &[&str]) -> Arc<Server> {
    let connections = format!("--connections={CONNECTIONS}");
    let arguments = [&[connections.as_str()], arguments].concat().into_iter().map(str::to_owned).collect();
    Server::private(&Options { arguments, ..Options::default() })
}

/// The head of a response, whose body goes on.
struct Held {
    status: u16,
    lines: BufReader<TcpStream>,
}

impl Held {
    fn send(server: &Server, head: &str, body: &str) -> Self {
        let mut connection = TcpStream::connect(server.address()).expect("a connection");
        connection.set_read_timeout(Some(WAIT)).expect("a timeout");
        let host = server.url.trim_start_matches("http://");
        let request = format!("{head}host: {host}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        connection.write_all(request.as_bytes()).expect("a request");
        let mut lines = BufReader::new(connection);
        let mut first = String::new();
        lines.read_line(&mut first).expect("a response");
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        Self { status: status.unwrap_or_else(|| panic!("no response: {first:?}")), lines }
    }

    fn listen(gateway: &Gateway<'_>, user: &Team) -> Self {
        let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta()});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
        let head = format!(
            "POST {} HTTP/1.1\r\nauthorization: Bearer {}\r\naccept: application/json, text/event-stream\r\n\
            content-type: application/json\r\nmcp-protocol-version: {MODERN}\r\nmcp-method: subscriptions/listen\r\n",
            gateway.path(),
            user.token
        );
        Self::send(&user.server, &head, &body.to_string())
    }

    /// The body of a refusal.
    fn refusal(mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.lines.read_line(&mut line).expect("a header");
            if line == "\r\n" {
                break;
            }
            if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = bytes.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.lines.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Whether the connection ends while its response goes on.
    fn ends_cut(mut self) -> bool {
        // However it ends: with the connection or with a reset.
        self.lines.read_to_end(&mut Vec::new()).is_ok_and(|bytes| bytes < 1 << 20)
    }
}

/// The head and the body of a call that waits, with its events.
fn invoke(team: &Team) -> (String, String) {
    let head = format!(
        "POST /v1/{}/tool/by-name/wait/version/%3E%3D0/invoke HTTP/1.1\r\nauthorization: Bearer {}\r\n\
        accept: text/event-stream\r\ncontent-type: application/json\r\n",
        team.organization, team.token
    );
    (head, json!({"inputs": [input(&json!({}))]}).to_string())
}

#[test]
fn a_user_listens_with_as_many_streams_as_allowed_and_others_do_not_notice() {
    let server = server(&[]);
    let (team, other) = (Team::on(&server), Team::on(&server));
    let (gateway, others) = (Gateway::new(&team, "tools", &[]), Gateway::new(&other, "tools", &[]));
    let mut held: Vec<_> = (0..2).map(|_| Held::listen(&gateway, &team)).collect();
    assert!(held.iter().all(|stream| stream.status == 200));
    for _ in 0..3 {
        let refused = Held::listen(&gateway, &team);
        assert_eq!(refused.status, 429);
        let refusal = refused.refusal();
        assert_eq!(refusal["code"], "too_many_streams", "{refusal}");
    }
    assert_eq!(Held::listen(&others, &other).status, 200, "another organisation");
    assert_eq!(team.get("/tool")["has_more"], false, "another request of the user");
    // A server that has just started loads the images of the languages.
    eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
    drop(held.pop());
    eventually("the end of a stream", || (Held::listen(&gateway, &team).status == 200).then_some(()));
}

#[test]
fn a_user_has_as_many_requests_as_allowed_whatever_they_wait_for() {
    let server = server(&["--requests-per-user", "3"]);
    let (team, other) = (Team::on(&server), Team::on(&server));
    team.tool("wait").body("import asyncio\nawait asyncio.sleep(600)").published();
    let (head, body) = invoke(&team);
    let held: Vec<_> = (0..3).map(|_| Held::send(&server, &head, &body)).collect();
    assert!(held.iter().all(|call| call.status == 200));
    let refused = Held::send(&server, &head, &body);
    assert_eq!(refused.status, 429);
    let refusal = refused.refusal();
    assert_eq!(refusal["code"], "too_many_requests", "{refusal}");
    let list = || server.request("GET", &format!("/v1/{}/tool", team.organization)).bearer(&team.token).send();
    assert_eq!(list().status, 429);
    assert_eq!(other.get("/tool")["has_more"], false, "another organisation");
    drop(held);
    eventually("the end of a call", || (list().status == 200).then_some(()));
}

/// All connections are in use, so that a stream is evicted for a request of others.
#[test]
fn a_listening_stream_makes_room_when_connections_run_short() {
    let server = server(&[
        "--streams-per-user=100",
        "--streams-per-organization=100",
        "--requests-per-user=100",
        "--requests-per-organization=100",
    ]);
    let (team, other) = (Team::on(&server), Team::on(&server));
    let gateway = Gateway::new(&team, "tools", &[]);
    let held: Vec<_> = (0..CONNECTIONS).map(|_| Held::listen(&gateway, &team)).collect();
    assert!(held.iter().all(|stream| stream.status == 200));
    assert_eq!(other.get("/tool")["has_more"], false, "a request of another organisation");
    assert!(held.into_iter().any(Held::ends_cut), "a stream was evicted");
}

/// All connections have a request that is processed, so that none can be evicted.
#[test]
fn probes_are_answered_by_a_server_without_connections() {
    let limits =
        ["--requests-per-user", "100", "--requests-per-organization", "100", "--organization-queued-runs", "100"];
    let server = server(&limits);
    eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
    let team = Team::on(&server);
    team.tool("wait").body("import asyncio\nawait asyncio.sleep(600)").published();
    let (head, body) = invoke(&team);
    let _held: Vec<_> = (0..CONNECTIONS).map(|_| Held::send(&server, &head, &body)).collect();
    let probe = |path: &str| Held::send(&server, &format!("GET {path} HTTP/1.1\r\n"), "");
    let refused = probe("/docs");
    assert_eq!(refused.status, 503);
    assert_eq!(refused.refusal()["code"], "too_many_connections");
    // Clients that send nothing fill the connections that are left for probes.
    let silent: Vec<_> = (0..40).map(|_| TcpStream::connect(server.address()).expect("a connection")).collect();
    for path in ["/health/live", "/health/ready"] {
        for _ in 0..10 {
            assert_eq!(probe(path).status, 200, "{path}");
        }
    }
    drop(silent);
}
