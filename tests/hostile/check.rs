//! Calls a tool over HTTP with one hostile input among nine well-behaved ones, and checks answers and records.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::case::{Bound, Case, Expect, Siblings};
use super::component::component;
use super::installed::Installer;
use crate::harness::{Run, Team, Tool, count_record_events, input};

/// Inputs of a call.
const INPUTS: usize = 10;
/// Index of the hostile input.
const HOSTILE: usize = 4;

/// Runs every case, prints the table and fails for all that went wrong.
#[track_caller]
pub fn check(cases: &[Case]) {
    let server = super::server();
    let team = Team::on(&server);
    let installer = Installer::new(&team);
    let mut wrong = Vec::new();
    for case in cases {
        let tool = installer.install(&case.name(), &component(case.guest.1), case.settings);
        if catch_unwind(AssertUnwindSafe(|| check_one(&team, &tool, case))).is_err() {
            wrong.push(case.name());
        }
    }
    assert!(wrong.is_empty(), "these cases went wrong: {wrong:?}");
    assert_eq!(server.log_about("panicked"), "");
    // Whatever tools print, each log entry is one object on one line.
    for line in server.log_about("").lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
}

fn check_one(team: &Team, tool: &Tool<'_>, case: &Case) {
    let started = Instant::now();
    let answer = tool.invoke_request(&body(case)).send();
    let took_ms = started.elapsed().as_millis();
    if let Expect::Refused(words) = &case.expect {
        assert_eq!((answer.status, answer.code().as_str()), (400, "component_rejected"), "{answer}");
        let detail = answer.detail();
        assert!(words.iter().all(|word| detail.contains(word)), "{words:?}: {detail}");
        assert_eq!(count_record_events(team, tool.id()), (0, 0));
        return row(case, "refused", took_ms, "");
    }
    let answer = answer.expect(200);
    let runs: Vec<_> = answer["invocation_results"].as_array().expect("a list").iter().cloned().map(Run).collect();
    assert_eq!(runs.len(), INPUTS);
    for (place, run) in runs.iter().enumerate() {
        if place == HOSTILE || case.siblings == Siblings::Alike {
            let record = team.get(&format!("/tool/invocation/{}", run.id()));
            meets(case, run, &record);
        } else {
            assert_eq!(run.output(), "fine", "the sibling at {place}");
        }
    }
    recorded(team, tool, &runs);
    let hostile = &runs[HOSTILE];
    let outcome = hostile.0["exception_type"].as_str().unwrap_or("ok");
    row(case, outcome, took_ms, &overrun(team, case, hostile));
}

fn body(case: &Case) -> Value {
    let inputs: Vec<_> = (0..INPUTS)
        .map(|place| match case.siblings == Siblings::Alike || place == HOSTILE {
            true => input(&case.input()),
            false => input(&json!({})),
        })
        .collect();
    match case.persistence {
        Some(persistence) => json!({"inputs": inputs, "result_persistence": persistence}),
        None => json!({"inputs": inputs}),
    }
}

fn meets(case: &Case, run: &Run, record: &Value) {
    match &case.expect {
        Expect::Output(output) => assert!(run.output() == output, "{run}"),
        Expect::Fails(kind, words) => {
            let failure = run.failure();
            assert_eq!(failure.kind, *kind, "{run}");
            assert!(words.iter().all(|word| failure.message.contains(word)), "{words:?}: {run}");
        }
        Expect::That(accepts) => accepts(run, record),
        Expect::Refused(_) => unreachable!("nothing ran"),
    }
}

/// Checks that each input has one record, which matches the answer.
pub fn recorded(team: &Team, tool: &Tool<'_>, runs: &[Run]) {
    let records = records(team, tool);
    let ids = |values: &mut dyn Iterator<Item = String>| values.collect::<BTreeSet<_>>();
    let recorded = ids(&mut records.iter().map(|record| record["id"].as_str().expect("an id").to_owned()));
    assert_eq!(recorded, ids(&mut runs.iter().map(|run| run.id().to_owned())));
    let count = i64::try_from(runs.len()).expect("a few");
    assert_eq!(count_record_events(team, tool.id()), (count, count));
    for record in &records {
        let run = runs.iter().find(|run| record["id"] == run.id()).expect("its run");
        for field in ["succeeded", "output", "exception_type", "exception_message", "exception_stack_trace"] {
            assert_eq!(record["invocation_status"][field], run.0[field], "{field} of {}", run.id());
        }
    }
}

/// Returns the tool's complete records.
fn records(team: &Team, tool: &Tool<'_>) -> Vec<Value> {
    let list = team.get(&format!("/tool/invocation?tool_id={}", tool.id()));
    list["tool_invocations"].as_array().expect("a list").clone()
}

/// Describes how late the run was stopped.
fn overrun(team: &Team, case: &Case, run: &Run) -> String {
    let (took, bound) = match case.bound {
        None => return String::new(),
        Some(Bound::Wall(bound)) => (run.duration_ms(), bound),
        Some(Bound::Cpu(bound)) => {
            let record = team.get(&format!("/tool/invocation/{}", run.id()));
            (record["ledger"]["cost"]["cpu_ms"].as_u64().expect("a number"), bound)
        }
    };
    // The delay depends on the machine, and is only printed. A run must not be stopped before its limit.
    assert!(took >= bound, "{took} ms of {bound}: {run}");
    let late = took - bound;
    format!("{late} ms after its limit")
}

fn row(case: &Case, outcome: &str, took_ms: u128, note: &str) {
    let outcome: String = outcome.escape_debug().take(24).collect();
    println!("| {:>2} | {:<30} | {outcome:<24} | {took_ms:>6} ms | {note}", case.number, case.guest.0);
}
