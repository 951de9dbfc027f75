//! Organisations that share workers and the bound of running builds.

use serde_json::Value;

use super::{HeldIndex, tool};
use crate::harness::{Bump, Team, Tool};

/// Starts an asynchronous publication, and returns the path of its operation.
fn started(tool: &Tool<'_>) -> String {
    let accepted = tool.publish_request(Bump::Minor).header("prefer", "respond-async").send();
    accepted.expect(202);
    accepted.headers["location"].to_str().expect("text").to_owned()
}

/// The test itself decides how long the first build runs, so that no time matters.
#[track_caller]
fn one_is_left_to_others(arguments: &[&str]) {
    let index = HeldIndex::serve();
    let server = index.server(arguments);
    let (crowd, other) = (Team::on(&server), Team::on(&server));
    let (held, next, prompt) = (index.tool(&crowd, "held"), tool(&crowd, "next"), tool(&other, "prompt"));
    let _first = index.worker(&server);
    // The held build has its place before the next one asks for one.
    let first = started(&held);
    index.has_begun(1);
    let operations = [first, started(&next)];
    let _second = index.worker(&server);
    prompt.publish(Bump::Minor).expect(201);
    for path in &operations {
        let operation: Value = server.request("GET", path).bearer(&crowd.token).send().expect(200);
        assert_ne!(operation["status"], "succeeded", "both builds of the organisation had a place: {operation}");
    }
    server.kill();
}

#[test]
fn one_of_two_builds_is_reserved_for_other_organizations() {
    one_is_left_to_others(&[]);
}

/// The server allows more builds than there are workers.
#[test]
fn one_of_two_workers_is_reserved_for_other_organizations() {
    one_is_left_to_others(&["--parallel-builds", "8"]);
}
