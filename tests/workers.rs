//! Builds in `lathe worker`, a separate process beside the server.

mod costly;
mod deaths;
mod publications;
mod sharing;
mod violations;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::{
    Bump, Options, PackageIndex, Server, Team, Tool, Worker, eventually, lock_line, package_wheel, server_with_workers,
};

/// A package index that holds its responses, so that builds with its package are in progress until a test opens it.
struct HeldIndex {
    index: PackageIndex,
    wheel: Vec<u8>,
}

impl HeldIndex {
    fn serve() -> Self {
        // No cache has this wheel yet, so that each build requests it.
        let wheel = package_wheel("words", "1.0", &[("words.py", &format!("# {}\n", fastrand::u64(..)))]);
        Self { index: PackageIndex::serve_held(&[("words", "words-1.0-py3-none-any.whl", &wheel)]), wheel }
    }

    fn server(&self, arguments: &[&str]) -> Arc<Server> {
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        server_with_workers(Options { python_index: Some(self.index.url.clone()), arguments, ..Options::default() })
    }

    fn worker(&self, server: &Server) -> Worker {
        Worker::with(server, &["--python-index", &self.index.url])
    }

    /// A tool whose build waits for the index.
    fn tool<'t>(&self, team: &'t Team, name: &str) -> Tool<'t> {
        let tool = team.tool(name).with_file("requirements.lock", &lock_line("words", "1.0", &self.wheel));
        tool.body("return 'hello'").pushed()
    }

    /// Waits until this many builds have begun.
    #[track_caller]
    fn has_begun(&self, builds: usize) {
        self.index.held.is_reached_by(builds);
    }

    fn open(&self) {
        self.index.held.open();
    }
}

fn server() -> Arc<Server> {
    server_with_workers(Options::default())
}

fn tool<'t>(team: &'t Team, name: &str) -> Tool<'t> {
    team.tool(name).body("return 'hello'").pushed()
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
