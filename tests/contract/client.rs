//! An independent client: a script with Python's standard library that calls every operation of the contract, of agents, of
//! conversations and of the Library, and parses strictly.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::contract::operations;
use crate::harness::{Said, Team, clean_environment};

fn script(team: &Team, url: &str) -> Said {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut command = Command::new("python3");
    clean_environment(&mut command);
    command.arg(tests.join("clients/every_operation.py")).env("HOME", team.home()).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("LATHE_URL", url).env("LATHE_ORG", &team.organization).env("LATHE_USER", &team.user);
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("LATHE_API_KEY_ID", &team.api_key_id)
        .env("LATHE_API_KEY", &team.api_key);
    Said::from(command.output().expect("python3 starts; install it: apt-get install python3"))
}

/// The operations of agents, of conversations and of the Library in the server's own description.
fn of_description(team: &Team) -> BTreeSet<String> {
    let document = team.server.request("GET", "/v1/openapi.json").send_message().json();
    let paths = document["paths"].as_object().expect("paths");
    let is_of_agents = |path: &str| ["agent", "conversation"].iter().any(|noun| path.split('/').nth(3) == Some(noun));
    let is_included = |path: &str| is_of_agents(path) || path.starts_with("/api/v1/");
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item.as_object().into_iter().flat_map(serde_json::Map::keys).filter(|key| *key != "parameters");
        methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
    };
    paths.iter().filter(|(path, _)| is_included(path)).flat_map(of_path).collect()
}

#[test]
fn a_script_does_every_operation() {
    let team = Team::new();
    let described = of_description(&team);
    assert_eq!(described.len(), 64, "{described:?}");
    // A second run, on the data of the first.
    for _ in 0..2 {
        let said = script(&team, &team.server.url).ok();
        let lines = said.stdout.lines().map(|line| line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "));
        let done: BTreeSet<String> = lines.filter(|line| line.contains("/v1/")).collect();
        let of_contract = operations().iter().map(|operation| operation.name.clone());
        assert_eq!(done, of_contract.chain(described.clone()).collect());
        assert!(said.stdout.contains("81 operations in "), "{said:?}");
    }
}

/// A server that answers every sign-in with this body.
fn lying(answer: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
    std::thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        stream.write_all(answer.as_bytes())
    });
    url
}

#[test]
fn the_script_reads_strictly() {
    let team = Team::new();
    for (answer, word) in [
        (r#"{"id_token": "t"}"#, "has no expires_at"),
        (r#"{"id_token": "t", "expires_at": "2026-01-02T03:04:05"}"#, "a time with an offset"),
        (r#"{"id_token": "t", "expires_at": 7}"#, "should be a string"),
        (r#"{"id_token": null, "expires_at": "2026-01-02T03:04:05Z"}"#, "should be a string"),
        (r#"{"id_token": "t", "id_token": "u", "expires_at": "2026-01-02T03:04:05Z"}"#, "a key occurs twice"),
        (r#"{"id_token": "t", "expires_at": NaN}"#, "is not JSON"),
    ] {
        script(&team, &lying(answer)).refused(1, &["after 0 operations", word]);
    }
}
