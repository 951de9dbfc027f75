//! A database that does not accept writes for a while, since another process holds its lock.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::harness::{
    Answer, Locked, Options, Server, Site, Team, Tool, count_record_events, eventually, input, runs_going_on,
};

const SLEEPS: &str = "import time\ntime.sleep(tool_input['seconds'])\nreturn 'rested'";
/// Time in which the server retries to record the end of a run before it answers with an error.
const RECORD_WAIT: Duration = Duration::from_secs(30);

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

/// Asserts that each record has its start event and its end event.
#[track_caller]
fn whole_records(team: &Team, id: &str, count: i64) {
    assert_eq!(count_record_events(team, id), (count, count));
}

fn is_ready(server: &Server) {
    eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
}

#[test]
fn calls_wait_for_a_locked_database() {
    let server = Server::private(&Options::default());
    let (team, id) = sleeper(&server);
    let tool = team.tool("sleeper").with_id(&id);
    let before = threads(&server);
    let locked = Locked::take(server.data());
    let answers: Vec<_> = std::thread::scope(|scope| {
        let calls = [0; 24].map(|_| scope.spawn(|| tool.invoke_request(&body(&[0, 0])).send()));
        server.request("GET", "/health/live").send().expect(200);
        // Reads continue, with the rows in the database.
        assert_eq!(team.history().len(), 1);
        // The runtime starts threads on demand, but not one per call.
        let now = threads(&server);
        assert!(now < before + 12, "{before} threads became {now}");
        drop(locked);
        calls.map(|call| call.join().expect("an answer")).into()
    });
    for answer in answers {
        assert_eq!(answer.expect(200)["invocation_results"][1]["output"], "rested");
    }
    whole_records(&team, &id, 1 + 24 * 2);
}

/// Nothing that is refused has an effect, and a run that was going on has its record.
#[test]
fn a_long_stall_refuses_changes_and_keeps_runs() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    let (held, free) = (json!({"held": site.url("/held")}), json!({}));
    let run = std::thread::scope(|scope| {
        let running = scope.spawn(|| tool.invoke(held));
        site.held.is_reached_by(1);
        let locked = Locked::take(server.data());
        site.held.open();
        let unready = server.request("GET", "/health/ready").send();
        assert_eq!((unready.status, unready.code().as_str()), (503, "not_ready"), "{unready}");
        assert!(unready.detail().contains("database"), "{unready}");
        // Returns once writes have waited for the lock as long as they do, ten seconds.
        refused(&team, &tool);
        drop(locked);
        running.join().expect("an answer")
    });
    assert_eq!(run.output(), "rested");
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert_eq!(record["invocation_status"]["output"], "rested");
    assert_eq!(tool.invoke(free).output(), "rested");
    whole_records(&team, tool.id(), 2);
    is_ready(&server);
    assert_eq!(team.get("/tool/")["tools"].as_array().map(Vec::len), Some(1));
}

/// Asserts that writes are refused. They have no effect, neither now nor later.
fn refused(team: &Team, tool: &Tool<'_>) {
    let create = json!({"name": "never", "description": "Refused.", "tags": {}});
    std::thread::scope(|scope| {
        let requests = [
            scope.spawn(|| team.post("/tool/", &create)),
            scope.spawn(|| tool.publish(crate::harness::Bump::Minor)),
            scope.spawn(|| tool.invoke_request(&json!({"inputs": [input(&json!({}))]})).send()),
        ];
        // The requests must end before the lock is released.
        for request in requests {
            let answer = request.join().expect("an answer");
            assert_eq!((answer.status, answer.code().as_str()), (503, "database_busy"), "{answer}");
            assert!(answer.headers.contains_key("retry-after"), "{answer}");
        }
    });
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (work(), began.elapsed())
}

/// The lock is held longer than the server retries: the caller gets an error, and the record is closed later. A retry with the
/// same idempotency key gets the name of the record, and nothing runs again.
#[test]
fn records_that_cannot_be_written_are_closed_later() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    assert_eq!(tool.invoke(json!({})).output(), "rested");
    let held = json!({"inputs": [input(&json!({"held": site.url("/held")}))]});
    let keyed = || tool.invoke_request(&held).header("idempotency-key", "once").send();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| timed(keyed));
        site.held.is_reached_by(1);
        let locked = Locked::take(server.data());
        site.held.open();
        let (answer, took) = running.join().expect("an answer");
        assert_eq!((answer.status, answer.code().as_str()), (503, "database_busy"), "{answer}");
        assert!(took >= RECORD_WAIT, "{} ms", took.as_millis());
        drop(locked);
    });
    eventually("the end of the record", || (runs_going_on(server.data()) == 0).then_some(()));
    assert_eq!(team.history()[0]["invocation_status"]["exception_type"], "record_failed");
    let is_running = |answer: &Answer| answer.code() == "request_in_progress";
    let again = eventually("the end of the operation", || Some(keyed()).filter(|answer| !is_running(answer)));
    assert_eq!((again.status, again.code().as_str()), (409, "operation_interrupted"), "{again}");
    assert_eq!(again.json()["invocation_ids"], json!([team.history()[0]["id"]]));
    whole_records(&team, tool.id(), 2);
    assert_eq!(tool.invoke(json!({})).output(), "rested");
}
