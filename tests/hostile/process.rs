//! Effects of a tool on the process that runs it: leftovers, panics of the host, lost callers.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use registry::Digest;
use runner::{
    Code, CodeBundle, CodeCache, CodeStore, Config, Execution, Limits, Outcome, Ports, RunDocuments, RunnerPool,
    Runners, Sandbox,
};
use serde_json::json;

use super::case::guest;
use super::component::component;
use super::installed::{Installer, Settings};
use crate::harness::{Team, Tool, count_record_events, eventually, input};

pub const NUMBERS: [u32; 3] = [62, 82, 84];
pub const GUESTS: [(&str, &str); 2] = [guest!("looks_for_leftovers"), guest!("sends_many_events")];

/// Calls with five writers and five readers each.
const CALLS: usize = 20;

#[test]
fn memory_of_other_runs_is_never_found() {
    let team = Team::on(&super::server());
    let tool = Installer::new(&team).install("leftovers", &component(GUESTS[0].1), Settings::default());
    let inputs: Vec<_> = (0..10).map(|place| input(&json!({"n": 1 + place % 2}))).collect();
    for _ in 0..CALLS {
        for run in tool.invoke_inputs(&json!({"inputs": inputs})) {
            assert_eq!(run.output(), "0");
        }
    }
}

/// The host's code panics during a call from the guest. That run is lost, and no other.
#[tokio::test]
async fn a_panic_of_the_host_ends_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let compiled = CodeCache::open(directory.path(), [7; 32]).expect("a cache");
    let bytes = component(GUESTS[1].1);
    let digest = Digest::of(&bytes);
    compiled.keep(&digest, &runner::precompile(&bytes, runner::Maker::Author).expect("a component")).expect("a file");
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let sandbox = Sandbox::start(&config, CodeStore::new(compiled)).expect("a sandbox");
    let panicking = || Ports { events: Box::new(|_| panic!("a fault of the host, on purpose")), ..Ports::closed() };
    let sibling = sandbox.run(execution(digest, "{}"), Ports::closed());
    let hostile = sandbox.run(execution(digest, "{\"n\":0}"), panicking());
    let (sibling, hostile) = tokio::join!(sibling, hostile);
    // The failure in its record is `internal`.
    assert_eq!(hostile.expect_err("the run is lost").to_string(), "the run was lost");
    for executed in [sibling, sandbox.run(execution(digest, "{}"), Ports::closed()).await] {
        assert_eq!(executed.expect("a run").outcome, Outcome::Succeeded { output: "fine".to_owned() });
    }
}

/// With runner processes, the panic is on the server's side of the socket.
#[tokio::test]
async fn a_panic_beside_a_runner_ends_one_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let compiled = CodeCache::open(directory.path(), [7; 32]).expect("a cache");
    let bytes = component(GUESTS[1].1);
    let digest = Digest::of(&bytes);
    compiled.keep(&digest, &runner::precompile(&bytes, runner::Maker::Author).expect("a component")).expect("a file");
    let config = Config::new(directory.path().to_owned(), [7; 32], "no-compiler");
    let runners = Runners { count: 1, ..Runners::new(env!("CARGO_BIN_EXE_lathe")) };
    let pool = RunnerPool::start(&config, &runners, CodeStore::new(compiled)).expect("a pool");
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
        code: Code { component, bundle: CodeBundle::default() },
        documents: RunDocuments {
            tool_input: tool_input.to_owned(),
            metadata: nothing(),
            config: nothing(),
            conversation: nothing(),
            user_variables: nothing(),
        },
        limits: Limits::DEFAULT,
        group: 0,
        tape_mode: runner::TapeMode::Off,
        interaction: runner::Interaction::default(),
    })
}

#[test]
fn a_disconnected_caller_leaves_a_complete_record_or_none() {
    let team = Team::on(&super::server());
    let tool = Installer::new(&team).install("sleeps", &component(guest!("sleeps").1), Settings::default());
    // A run that has begun is in the history, although the caller disconnects.
    let stream = send_call(&team, &tool);
    eventually("the run's start", || (count_record_events(&team, tool.id()).0 == 1).then_some(()));
    drop(stream);
    eventually("the run's end", || (count_record_events(&team, tool.id()).1 == 1).then_some(()));
    let gone = [0, 1, 2, 5, 20];
    for milliseconds in gone {
        let stream = send_call(&team, &tool);
        std::thread::sleep(Duration::from_millis(milliseconds));
        drop(stream);
    }
    // Whichever of these runs begin, every record is complete in the end.
    let records = eventually("the ends of the records", || {
        let (events, records) = (count_record_events(&team, tool.id()), team.history());
        let count = i64::try_from(records.len()).expect("a few");
        (events == (count, count)).then_some(records)
    });
    assert!((1..=1 + gone.len()).contains(&records.len()), "{records:?}");
    for record in records {
        assert_eq!(record["invocation_status"]["output"], "fine", "{record}");
    }
}

/// Sends a call whose run takes 300 milliseconds.
fn send_call(team: &Team, tool: &Tool<'_>) -> TcpStream {
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
