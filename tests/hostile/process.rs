//! What a tool might leave behind in the process that runs it, or take with it.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use registry::Digest;
use runner::{Code, Codes, Compiled, Config, Execution, Limits, Outcome, Pool, Ports, Runners, Sandbox};
use serde_json::json;

use super::case::guest;
use super::component::component;
use super::installed::{Installer, Settings};
use crate::harness::{Team, Tool, eventually, halves_of_records, input};

pub const NUMBERS: [u32; 3] = [62, 82, 84];
pub const GUESTS: [(&str, &str); 2] = [guest!("looks_for_leftovers"), guest!("sends_many_events")];

/// Calls with five writers and five readers each.
const CALLS: usize = 20;

#[test]
fn memory_of_others_is_never_found() {
    let team = Team::on(&super::server());
    let tool = Installer::new(&team).install("leftovers", &component(GUESTS[0].1), Settings::default());
    let inputs: Vec<_> = (0..10).map(|place| input(&json!({"n": 1 + place % 2}))).collect();
    for _ in 0..CALLS {
        for run in tool.invoke_inputs(&json!({"inputs": inputs})) {
            assert_eq!(run.output(), "0");
        }
    }
}

/// The host's own code fails in the middle of a call from the guest: that run is lost, and nothing else.
#[tokio::test]
async fn a_panic_of_the_host_ends_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let compiled = Compiled::open(directory.path(), [7; 32]).expect("a cache");
    let bytes = component(GUESTS[1].1);
    let digest = Digest::of(&bytes);
    compiled.keep(&digest, &runner::precompile(&bytes, runner::Maker::Author).expect("a component")).expect("a file");
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let sandbox = Sandbox::start(&config, Codes::new(compiled)).expect("a sandbox");
    let panicking = || Ports { events: Box::new(|_| panic!("a fault of the host, on purpose")), ..Ports::closed() };
    let sibling = sandbox.run(execution(digest, "{}"), Ports::closed());
    let hostile = sandbox.run(execution(digest, "{\"n\":0}"), panicking());
    let (sibling, hostile) = tokio::join!(sibling, hostile);
    // Its record says `internal`.
    assert_eq!(hostile.expect_err("the run is lost").to_string(), "the run was lost");
    for executed in [sibling, sandbox.run(execution(digest, "{}"), Ports::closed()).await] {
        assert_eq!(executed.expect("a run").outcome, Outcome::Succeeded { output: "fine".to_owned() });
    }
}

/// The same where runs are in processes of their own: the fault is then on the server's side of the socket.
#[tokio::test]
async fn a_panic_beside_a_runner_ends_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let compiled = Compiled::open(directory.path(), [7; 32]).expect("a cache");
    let bytes = component(GUESTS[1].1);
    let digest = Digest::of(&bytes);
    compiled.keep(&digest, &runner::precompile(&bytes, runner::Maker::Author).expect("a component")).expect("a file");
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let runners = Runners { count: 1, ..Runners::new(env!("CARGO_BIN_EXE_lathe")) };
    let pool = Pool::start(&config, &runners, Codes::new(compiled)).expect("a pool");
    let panicking = || Ports { events: Box::new(|_| panic!("a fault of the host, on purpose")), ..Ports::closed() };
    let sibling = pool.run(execution(digest, "{}"), Ports::closed());
    let hostile = pool.run(execution(digest, "{\"n\":0}"), panicking());
    let (sibling, hostile) = tokio::join!(sibling, hostile);
    assert_eq!(hostile.expect_err("the run is lost").to_string(), "the host's side of the run panicked");
    for executed in [sibling, pool.run(execution(digest, "{}"), Ports::closed()).await] {
        assert_eq!(executed.expect("a run").outcome, Outcome::Succeeded { output: "fine".to_owned() });
    }
}

fn execution(component: Digest, tool_input: &str) -> Box<Execution> {
    let nothing = || "null".to_owned();
    Box::new(Execution {
        code: Code { component, bundle: [].into() },
        tool_input: tool_input.to_owned(),
        metadata: nothing(),
        config: nothing(),
        conversation: nothing(),
        user_variables: nothing(),
        limits: Limits::DEFAULT,
        group: 0,
        taping: runner::Taping::Off,
    })
}

#[test]
fn a_caller_that_goes_away_leaves_a_whole_record_or_none() {
    let team = Team::on(&super::server());
    let tool = Installer::new(&team).install("sleeps", &component(guest!("sleeps").1), Settings::default());
    for milliseconds in [0, 1, 2, 5, 20] {
        let stream = asked(&team, &tool);
        std::thread::sleep(Duration::from_millis(milliseconds));
        drop(stream);
    }
    // Who stays until the run has begun finds it in the history.
    let (before, stream) = (halves_of_records(&team, tool.id()).0, asked(&team, &tool));
    eventually("the run's start", || (halves_of_records(&team, tool.id()).0 > before).then_some(()));
    drop(stream);
    let ended = || Some(halves_of_records(&team, tool.id())).filter(|(started, finished)| started == finished);
    let (started, _) = eventually("the ends of the records", ended);
    let records = team.history();
    assert_eq!(Ok(records.len()), usize::try_from(started));
    for record in records {
        assert_eq!(record["invocation_status"]["output"], "fine", "{record}");
    }
}

/// A call on its way: a run of 300 milliseconds.
fn asked(team: &Team, tool: &Tool<'_>) -> TcpStream {
    let body = json!({"inputs": [input(&json!({"n": 300}))]}).to_string();
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
    stream
}
