//! Builds in `lathe worker`, a separate process beside the server.

mod deaths;
mod publications;
mod sharing;
mod violations;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{Bump, Options, Server, Team, Tool, Worker, eventually, server_with_workers};

/// Top-level code runs while a tool is built, for at most forty seconds. A test needs the moment from its start to a signal.
const SLOW: &str = "import time\ntime.sleep(12)";

fn server() -> Arc<Server> {
    server_with_workers(Options::default())
}

fn tool<'t>(team: &'t Team, name: &str) -> Tool<'t> {
    team.tool(name).body("return 'hello'").pushed()
}

fn slow_tool<'t>(team: &'t Team, name: &str) -> Tool<'t> {
    team.tool(name).source(SLOW, "return 'hello'").pushed()
}

/// Asserts that a build is refused temporarily and changes nothing.
#[track_caller]
fn refused(team: &Team, tool: &Tool<'_>, code: &str) {
    let answer = tool.publish(Bump::Minor);
    assert_eq!((answer.status, answer.code().as_str()), (503, code), "{answer}");
    assert!(answer.headers.contains_key("retry-after"), "{answer}");
    let build = answer.json()["build_id"].as_str().expect("a build").to_owned();
    let found = team.get(&format!("/tool/{}/build/{build}", tool.id()));
    assert_eq!((&found["state"], &found["stage"]), (&json!("failed"), &json!("build")), "{found}");
    assert!(tool.versions().is_empty());
}

/// Builds and runs a tool, with a worker that is connected or starting.
#[track_caller]
fn works(team: &Team, name: &str) {
    let tool = tool(team, name);
    let published = eventually("a worker", || {
        Some(tool.publish(Bump::Minor)).filter(|answer| answer.status != 503 || answer.code() != "no_build_worker")
    });
    published.expect(201);
    assert_eq!(tool.invoke(json!({})).output(), "hello");
}

/// Verifies version 1.0.0 by a rebuild, and asserts that it is identical and signed.
#[track_caller]
fn identical(team: &Team, id: &str) -> Value {
    let found = team.post(&format!("/tool/{id}/version/1.0.0/verify"), &json!({})).expect(200);
    assert_eq!((&found["identical"], &found["signed"]), (&json!(true), &json!(true)), "{found}");
    found
}

fn worker(server: &Server) -> Worker {
    Worker::beside(server)
}
