//! Organisations that share workers and the bound of running builds.

use std::sync::Arc;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{server, slow_tool, tool, worker};
use crate::harness::{Bump, Options, Server, Team, Tool, server_with_workers};

/// Starts an asynchronous publication, and returns the path of its operation.
fn started(tool: &Tool<'_>) -> String {
    let accepted = tool.publish_request(Bump::Minor).header("prefer", "respond-async").send();
    accepted.expect(202);
    accepted.headers["location"].to_str().expect("text").to_owned()
}

/// The test itself decides how long the first build runs, so that no time matters.
#[track_caller]
fn one_is_left_to_others(server: &Arc<Server>) {
    let (crowd, other) = (Team::on(server), Team::on(server));
    let (held, next, prompt) = (slow_tool(&crowd, "held"), tool(&crowd, "next"), tool(&other, "prompt"));
    let mut first = worker(server);
    let operations = [started(&held), started(&next)];
    first.is_compiling();
    first.signal(Signal::SIGSTOP);
    let _second = worker(server);
    prompt.publish(Bump::Minor).expect(201);
    for path in &operations {
        let operation: Value = server.request("GET", path).bearer(&crowd.token).send().expect(200);
        assert_ne!(operation["status"], "succeeded", "both builds of the organisation had a place: {operation}");
    }
    server.kill();
}

#[test]
fn one_of_two_builds_is_reserved_for_other_organizations() {
    one_is_left_to_others(&server());
}

/// The server allows more builds than there are workers.
#[test]
fn one_of_two_workers_is_reserved_for_other_organizations() {
    let arguments = vec!["--parallel-builds".to_owned(), "8".to_owned()];
    one_is_left_to_others(&server_with_workers(Options { arguments, ..Options::default() }));
}
