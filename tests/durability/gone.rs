//! Clients that are gone a millisecond after they asked, at every door behind which work begins.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Bump, Options, Server, Team, Tool, count_rows, eventually, fetch, halves_of_records, input};

const AFTER_MS: [u64; 5] = [0, 1, 1, 2, 10];

/// What is asked for: a method, a path, a header and a body.
type Door = (&'static str, String, &'static str, Value);

fn doors(team: &Team, tool: &Tool<'_>, round: usize) -> Vec<Door> {
    let inputs = json!({"inputs": [input(&json!({})), input(&json!({}))]});
    let invoke = format!("/tool/{}/version/1.0.0/invoke", tool.id());
    let test = json!({
        "inputs": [input(&json!({}))], "commit_branch": team.branch(), "project_path": tool.path(),
        "required_envvars": {}, "required_secret_envvars": {},
    });
    let publish = json!({"project_path": tool.path(), "bump_type": "patch"});
    let create = json!({"name": format!("created{round}"), "description": "By who is gone.", "tags": {}});
    let plain = "accept: application/json";
    vec![
        ("POST", invoke.clone(), plain, inputs.clone()),
        ("POST", invoke.clone(), "accept: text/event-stream", inputs.clone()),
        ("POST", invoke, "prefer: respond-async", inputs),
        ("POST", "/tool/test".to_owned(), plain, test),
        ("POST", format!("/tool/{}/version", tool.id()), plain, publish),
        ("POST", "/tool/".to_owned(), plain, create),
        ("GET", "/tool/invocation".to_owned(), plain, Value::Null),
    ]
}

fn asked(team: &Team, (method, path, header, body): &Door) -> TcpStream {
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

/// Whether nothing is under way any more.
fn is_quiet(server: &Server) -> bool {
    let metrics = metrics(server);
    let of = |name: &str| metrics.lines().filter(|line| line.starts_with(name)).all(|line| line.ends_with(" 0"));
    of("lathe_http_requests_in_flight") && of("lathe_work_running") && of("lathe_work_waiting")
}

#[test]
fn clients_that_are_gone_leave_nothing_half_done() {
    let arguments = ["--metrics-listen", "127.0.0.1:0"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body("import time\ntime.sleep(0.05)\nreturn 'rested'").published();
    for (round, after) in AFTER_MS.into_iter().enumerate() {
        for door in doors(&team, &tool, round) {
            let stream = asked(&team, &door);
            std::thread::sleep(Duration::from_millis(after));
            drop(stream);
        }
    }
    eventually("the end of all work", || is_quiet(&server).then_some(()));
    let (started, finished) = halves_of_records(&team, tool.id());
    assert!(started == finished && started > 0, "{started} runs began, and {finished} have ended");
    for record in team.history() {
        assert_eq!(record["invocation_status"]["output"], "rested", "{record}");
    }
    assert_eq!(count_rows(&team, "builds WHERE state = 'running'"), 0);
    assert_eq!(count_rows(&team, "operations WHERE state = 'running'"), 0);
    // The tool is free, and what was made is whole.
    tool.publish(Bump::Major).expect(201);
    for version in tool.versions() {
        let path = format!("/tool/{}/version/{version}/invoke", tool.id());
        let answer = team.post(&path, &json!({"inputs": [input(&json!({}))]})).expect(200);
        assert_eq!(answer["invocation_results"][0]["output"], "rested", "{version}");
    }
    assert_eq!(server.log_about("panicked"), "");
}
