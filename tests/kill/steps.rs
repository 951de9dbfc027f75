//! A kill at each durable step of an action: before each call of the server that creates, flushes or renames a file of its
//! data. Between two such calls, a kill leaves the same files.

use super::action::What;
use super::client::Client;
use super::interposer::{CREATE, Fault, Interposer, NAME, SYNC};
use super::run::{Run, Setting};
use crate::harness::eventually;

/// More steps than any action has.
const STEPS_MAX: u64 = 200;

/// Repeats an action, each time with a kill one step later, until it needs no further step. Returns the steps.
fn killed_at_each_step(
    name: &'static str,
    prepare: fn(&mut Client) -> Option<What>,
    action: fn(&mut Client) -> What,
) -> Vec<String> {
    let interposer = Interposer::new();
    let setting = Setting { name, seed: 0, clients: 1, servers: vec![interposer.options()], is_faulty: true };
    let mut run = Run::new(setting);
    let mut steps = Vec::new();
    for first in 1..STEPS_MAX {
        is_ready(&run);
        let Run { clients, stage, servers, .. } = &mut run;
        if let Some(what) = prepare(&mut clients[0]) {
            clients[0].begin(stage, what).expect("an answer");
        }
        let what = action(&mut clients[0]);
        interposer.arm(&servers[0], Fault { kinds: CREATE | SYNC | NAME, first, count: 1, error: None });
        let outcome = clients[0].begin(stage, what);
        let step = interposer.disarm();
        run.kill_now();
        run.restart();
        run.compare(true);
        run.settle();
        let Some(step) = step else {
            assert!(outcome.is_some_and(|outcome| outcome.is_acknowledged()), "{name} without a kill");
            println!("{name}, killed before each of\n  {}", steps.join("\n  "));
            return steps;
        };
        assert!(!step.is_empty());
        steps.push(step);
    }
    panic!("{name} does not end: {steps:?}");
}

/// Waits until the work of the start is done, so that only the action makes steps.
fn is_ready(run: &Run) {
    eventually("readiness", || (run.servers[0].request("GET", "/health/ready").send().status == 200).then_some(()));
}

/// Asserts that steps in these files were tried.
#[track_caller]
fn include(steps: &[String], files: &[&str]) {
    for file in files {
        assert!(steps.iter().any(|step| step.contains(file)), "no step of {file}: {steps:?}");
    }
}

#[test]
fn a_publication_may_be_killed_at_each_step() {
    let steps = killed_at_each_step("publication", |client| Some(client.edit()), |client| client.publish());
    include(&steps, &["sync lathe.db-wal", "rename to artifacts/", "sync git/"]);
}

#[test]
fn a_call_may_be_killed_at_each_step() {
    let steps = killed_at_each_step("call", |_| None, |_| What::call(3, false));
    // The start and the end of the runs.
    assert!(steps.len() >= 2, "{steps:?}");
    let steps = killed_at_each_step("call with a key", |_| None, |_| What::call(3, true));
    include(&steps, &["sync lathe.db-wal"]);
}

#[test]
fn a_change_may_be_killed_at_each_step() {
    let steps = killed_at_each_step("variable", |_| None, Client::variable);
    include(&steps, &["sync lathe.db-wal"]);
    let steps = killed_at_each_step("deprecation", |client| Some(client.publish()), Client::deprecate);
    include(&steps, &["sync lathe.db-wal"]);
}
