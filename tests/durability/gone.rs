//! Clients that disconnect within milliseconds of their request, for every request that starts work.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Bump, Options, Server, Team, Tool, count_record_events, count_rows, eventually, fetch, input};

const AFTER_MS: [u64; 5] = [0, 1, 1, 2, 10];

/// A request that is written by hand.
struct RawRequest {
    method: &'static str,
    path: String,
    header: &'static str,
    body: Value,
}

fn requests(team: &Team, tool: &Tool<'_>, round: usize) -> Vec<RawRequest> {
    let inputs = json!({"inputs": [input(&json!({})), input(&json!({}))]});
    let invoke = format!("/tool/{}/version/1.0.0/invoke", tool.id());
    let test = json!({
        "inputs": [input(&json!({}))], "commit_branch": team.branch(), "project_path": tool.path(),
        "required_envvars": {}, "required_secret_envvars": {},
    });
    let publish = json!({"project_path": tool.path(), "bump_type": "patch"});
    let create = json!({"name": format!("created{round}"), "description": "By who is gone.", "tags": {}});
    let plain = "accept: application/json";
    let request = |method, path: &str, header, body| RawRequest { method, path: path.to_owned(), header, body };
    vec![
        request("POST", &invoke, plain, inputs.clone()),
        request("POST", &invoke, "accept: text/event-stream", inputs.clone()),
        request("POST", &invoke, "prefer: respond-async", inputs),
        request("POST", "/tool/test", plain, test),
        request("POST", &format!("/tool/{}/version", tool.id()), plain, publish),
        request("POST", "/tool/", plain, create),
        request("GET", "/tool/invocation", plain, Value::Null),
    ]
}

fn send(team: &Team, request: &RawRequest) -> TcpStream {
    let RawRequest { method, path, header, body } = request;
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = TcpStream::connect(team.server.address()).expect("a connection");
    let head = format!(
        "{method} /v1/{}{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n{header}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        team.organization,
        team.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("a request");
    stream
}

fn metrics(server: &Server) -> String {
    let line = eventually("the listener of metrics", || {
        Some(server.log_about("serving metrics")).filter(|line| !line.is_empty())
    });
    let url = line.split_whitespace().find_map(|word| word.split_once("url=")).expect("a URL").1.to_owned();
    fetch(url.trim_matches('"'))
}

/// The current number of connections, including the one of this query.
fn connections(server: &Server) -> u64 {
    let metrics = metrics(server);
    let number = metrics.lines().find_map(|line| line.strip_prefix("lathe_http_connections ")?.parse().ok());
    number.unwrap_or_else(|| panic!("no connections: {metrics}"))
}

/// Waits until the server has accepted all earlier connections: it accepts them in order.
fn accepted(server: &Server) {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.write_all(b"GET /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Whether no request and no work is running or waiting.
fn is_quiet(server: &Server) -> bool {
    let metrics = metrics(server);
    let of = |name: &str| metrics.lines().filter(|line| line.starts_with(name)).all(|line| line.ends_with(" 0"));
    of("lathe_http_requests_in_flight") && of("lathe_work_running") && of("lathe_work_waiting")
}

#[test]
fn clients_that_disconnect_leave_no_partial_work() {
    let arguments = ["--metrics-listen", "127.0.0.1:0"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body("import time\ntime.sleep(0.05)\nreturn 'rested'").published();
    let before = connections(&server);
    for (round, after) in AFTER_MS.into_iter().enumerate() {
        for request in requests(&team, &tool, round) {
            let stream = send(&team, &request);
            std::thread::sleep(Duration::from_millis(after));
            drop(stream);
        }
    }
    accepted(&server);
    eventually("the end of the connections", || (connections(&server) <= before).then_some(()));
    eventually("the end of all work", || is_quiet(&server).then_some(()));
    let (started, finished) = count_record_events(&team, tool.id());
    assert!(started == finished && started > 0, "{started} runs began, and {finished} have ended");
    for record in team.history() {
        assert_eq!(record["invocation_status"]["output"], "rested", "{record}");
    }
    assert_eq!(count_rows(&team, "builds WHERE state = 'running'"), 0);
    assert_eq!(count_rows(&team, "operations WHERE state = 'running'"), 0);
    // The tool is free, and its versions are complete.
    tool.publish(Bump::Major).expect(201);
    for version in tool.versions() {
        let path = format!("/tool/{}/version/{version}/invoke", tool.id());
        let answer = team.post(&path, &json!({"inputs": [input(&json!({}))]})).expect(200);
        assert_eq!(answer["invocation_results"][0]["output"], "rested", "{version}");
    }
    assert_eq!(server.log_about("panicked"), "");
}
