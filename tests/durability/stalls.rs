//! A database that takes no writes for a while: another process has it locked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::harness::{Locked, Options, Server, Team, Tool, eventually, halves_of_records, input, runs_going_on};

const SLEEPS: &str = "import time\ntime.sleep(tool_input['seconds'])\nreturn 'rested'";
/// What a write waits for a lock, twice: for those who came before, and for itself.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Bytes of an input with whose tape a record goes past the journal.
const LONG_INPUT: usize = 600_000;
/// For a busy machine.
const GRACE: Duration = Duration::from_secs(5);

fn body(seconds: &[u32]) -> Value {
    let inputs: Vec<_> = seconds.iter().map(|seconds| input(&json!({"seconds": seconds}))).collect();
    json!({"inputs": inputs})
}

fn threads(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process_id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:")).expect("a number");
    line.trim().parse().expect("a number")
}

fn sleeper(server: &Arc<Server>) -> (Team, String) {
    let team = Team::on(server);
    let tool = team.tool("sleeper").body(SLEEPS).published();
    let id = tool.id().to_owned();
    assert_eq!(tool.invoke(json!({"seconds": 0})).output(), "rested");
    drop(tool);
    assert_eq!(team.history().len(), 1);
    (team, id)
}

/// Records with both halves, and none with one.
#[track_caller]
fn whole_records(team: &Team, id: &str, count: i64) {
    assert_eq!(halves_of_records(team, id), (count, count));
}

fn is_ready(server: &Server) {
    eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
}

/// What calls are waited for is in the journal.
#[test]
fn calls_go_on_while_the_database_is_locked() {
    let server = Server::private(&Options::default());
    let (team, id) = sleeper(&server);
    let tool = team.tool("sleeper").with_id(&id);
    let before = threads(&server);
    let locked = Locked::take(server.data());
    let answers: Vec<_> = std::thread::scope(|scope| {
        let calls = [0; 24].map(|_| scope.spawn(|| tool.invoke_request(&body(&[0, 0])).send()));
        let unready = server.request("GET", "/health/ready").send();
        assert_eq!((unready.status, unready.code().as_str()), (503, "not_ready"), "{unready}");
        assert!(unready.detail().contains("database"), "{unready}");
        server.request("GET", "/health/live").send().expect(200);
        // What only reads goes on, with what the database has.
        assert_eq!(team.history().len(), 1);
        // The runtime starts some when they are needed, and no call has one of its own.
        let now = threads(&server);
        assert!(now < before + 12, "{before} threads became {now}");
        calls.map(|call| call.join().expect("an answer")).into()
    });
    for answer in answers {
        assert_eq!(answer.expect(200)["invocation_results"][1]["output"], "rested");
    }
    drop(locked);
    whole_records(&team, &id, 1 + 24 * 2);
    is_ready(&server);
}

#[test]
fn a_long_stall_refuses_changes_and_keeps_runs() {
    let server = Server::private(&Options::default());
    let (team, id) = sleeper(&server);
    let tool = team.tool("sleeper").with_id(&id);
    let locked = Locked::take(server.data());
    let began = Instant::now();
    let run = tool.invoke(json!({"seconds": 1}));
    assert_eq!(run.output(), "rested");
    refused(&team, &tool);
    std::thread::sleep((WAIT_MAX + GRACE).saturating_sub(began.elapsed()));
    assert_eq!(tool.invoke(json!({"seconds": 0})).output(), "rested");
    drop(locked);
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert_eq!(record["invocation_status"]["output"], "rested");
    whole_records(&team, &id, 3);
    is_ready(&server);
    assert_eq!(team.get("/tool/")["tools"].as_array().map(Vec::len), Some(1));
}

/// A server that is killed meanwhile has its journal left.
#[test]
fn what_a_locked_database_did_not_take_is_there_after_a_crash() {
    let server = Server::private(&Options::default());
    let (team, id) = sleeper(&server);
    let locked = Locked::take(server.data());
    let run = team.tool("sleeper").with_id(&id).invoke(json!({"seconds": 0}));
    server.kill();
    drop(locked);
    let again = server.restarted(|_| {});
    let team = team.moved_to(again);
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert_eq!(record["invocation_status"]["output"], "rested");
    whole_records(&team, &id, 2);
}

/// Nothing of what is refused is done, now or later.
fn refused(team: &Team, tool: &Tool<'_>) {
    let create = json!({"name": "never", "description": "Refused.", "tags": {}});
    std::thread::scope(|scope| {
        let requests = [
            scope.spawn(|| timed(|| team.post("/tool/", &create))),
            scope.spawn(|| timed(|| tool.publish(crate::harness::Bump::Minor))),
        ];
        for request in requests {
            let (answer, took) = request.join().expect("an answer");
            assert_eq!((answer.status, answer.code().as_str()), (503, "database_busy"), "{answer}");
            assert!(answer.headers.contains_key("retry-after"), "{answer}");
            assert!(took < WAIT_MAX + GRACE, "{} ms", took.as_millis());
        }
    });
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (work(), began.elapsed())
}

/// A long record goes past the journal. Longer than anybody waits: the caller is refused, and the record is closed all the same. Who asks again with the same
/// key is told the same, and nothing runs again.
#[test]
fn what_cannot_be_recorded_is_closed_later() {
    let server = Server::private(&Options::default());
    let (team, id) = sleeper(&server);
    let tool = team.tool("sleeper").with_id(&id);
    let long: String = std::iter::repeat_with(fastrand::alphanumeric).take(LONG_INPUT).collect();
    let long = json!({"inputs": [input(&json!({"seconds": 1, "long": long}))]});
    let keyed = || tool.invoke_request(&long).header("idempotency-key", "once").send();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| timed(keyed));
        eventually("the start of a run", || (runs_going_on(server.data()) == 1).then_some(()));
        let locked = Locked::take(server.data());
        let (answer, took) = running.join().expect("an answer");
        assert_eq!((answer.status, answer.code().as_str()), (503, "database_busy"), "{answer}");
        assert!((30..60).contains(&took.as_secs()), "{} s", took.as_secs());
        drop(locked);
    });
    eventually("the end of the record", || (runs_going_on(server.data()) == 0).then_some(()));
    assert_eq!(team.history()[0]["invocation_status"]["exception_type"], "record_failed");
    let again = eventually("the end of the operation", || Some(keyed()).filter(|answer| answer.status != 409));
    assert_eq!((again.status, again.code().as_str()), (503, "database_busy"), "{again}");
    whole_records(&team, &id, 2);
    assert_eq!(tool.invoke(json!({"seconds": 0})).output(), "rested");
}
