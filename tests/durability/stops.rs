//! SIGTERM: what runs comes to its end, is recorded and answered; nothing new is admitted.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Options, Server, Team, eventually, input, runs_going_on};

#[test]
fn a_stop_waits_for_what_runs() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body("import time\ntime.sleep(3)\nreturn 'rested'").published();
    let id = std::thread::scope(|scope| {
        let run = scope.spawn(|| tool.invoke(json!({})));
        eventually("the start of the run", || (runs_going_on(server.data()) == 1).then_some(()));
        server.signal(Signal::SIGTERM);
        let run = run.join().expect("the answer arrives");
        assert_eq!(run.output(), "rested");
        run.id().to_owned()
    });
    let status = server.ended_within(Duration::from_secs(10)).expect("the server ends by itself");
    assert_eq!(status.code(), Some(0));
    drop(tool);
    let again = server.restarted(|_| {});
    let team = team.moved_to(again);
    assert_eq!(team.get(&format!("/tool/invocation/{id}"))["invocation_status"]["output"], "rested");
}

#[test]
fn a_stop_admits_nothing_more() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body("import time\ntime.sleep(2)\nreturn 'rested'").published();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| tool.invoke(json!({})));
        eventually("the start of the run", || (runs_going_on(server.data()) == 1).then_some(()));
        server.signal(Signal::SIGTERM);
        eventually("the refusal", || {
            let late = tool.invoke_request(&json!({"inputs": [input(&json!({}))]})).try_send();
            // The port is closed, or a connection from before is told to come later.
            late.map_or(Some(()), |answer| (answer.status == 503).then_some(()))
        });
        assert_eq!(run.join().expect("the answer arrives").output(), "rested");
    });
    assert_eq!(server.ended_within(Duration::from_secs(10)).and_then(|status| status.code()), Some(0));
}

#[test]
fn an_interrupt_is_a_stop_too() {
    let server = Server::private(&Options::default());
    server.signal(Signal::SIGINT);
    assert_eq!(server.ended_within(Duration::from_secs(10)).and_then(|status| status.code()), Some(0));
    assert!(!server.log_about("stopped").is_empty());
}
