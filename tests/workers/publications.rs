//! Publications through workers, in every language.

use std::sync::Arc;

use nix::sys::signal::Signal;
use serde_json::json;

use super::{identical, server, tool, worker, works};
use crate::harness::{
    Bump, Event, Options, PackageIndex, Server, Team, Worker, lock_line, package_wheel, server_with_workers,
};
use crate::rust::project::Project;
use crate::{javascript, rust::machine};

/// The same data directory with a server that builds itself.
fn restarted_alone(team: Team, server: Arc<Server>) -> Team {
    server.signal(Signal::SIGTERM);
    assert!(server.ended().success());
    team.moved_to(
        server.restarted(|options| options.arguments.retain(|one| one != "external" && one != "--build-workers")),
    )
}

fn finished(events: &[Event]) -> Vec<&str> {
    let steps = events.iter().filter(|event| event.name == "step" && event.data["state"] == "finished");
    steps.filter_map(|event| event.data["name"].as_str()).collect()
}

#[test]
fn a_worker_builds_the_same_bytes_as_the_server_and_reports_progress() {
    let server = server();
    let worker = worker(&server);
    let team = Team::on(&server);
    let tool = team.tool("greet").body("return 'hello'");
    let tool = tool.with_file("checks/one.json", r#"{"expected_output": "hello"}"#).pushed();
    let events = tool.publish_request(Bump::Minor).events();
    let steps = ["checkout", "manifest", "image", "dependencies", "compile", "checks", "gate", "store", "publish"];
    assert_eq!(finished(&events), steps, "{events:?}");
    let begun = events.iter().position(|event| event.data == json!({"name": "compile", "state": "started"}));
    let ended = events.iter().position(|event| event.data["name"] == "compile" && event.data["state"] == "finished");
    assert!(begun.expect("a start") < ended.expect("an end"), "{events:?}");
    assert_eq!(tool.invoke(json!({})).output(), "hello");
    let version = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    assert!(version["build_log"].as_str().expect("a log").contains("\ncompile: done in "), "{version}");
    let id = tool.id().to_owned();
    drop(tool);
    let team = restarted_alone(team, server);
    identical(&team, &id);
    drop(worker);
}

/// The snapshot comes from the worker.
#[test]
fn packages_are_imported_once_by_a_worker() {
    let wheel = package_wheel("words", "1.0", &[("words.py", "WORDS = ['salve']  # of a worker\n")]);
    let index = PackageIndex::serve(&[("words", "words-1.0-py3-none-any.whl", &wheel)]);
    let server = server_with_workers(Options { python_index: Some(index.url.clone()), ..Options::default() });
    let worker = Worker::with(&server, &["--python-index", &index.url]);
    let team = Team::on(&server);
    let tool = team.tool("greet").with_file("requirements.lock", &lock_line("words", "1.0", &wheel));
    let before = "import sys\nLOADED = 'words' in sys.modules\nimport words";
    let tool = tool.source(before, "return [LOADED, words.WORDS]").pushed();
    let events = tool.publish_request(Bump::Minor).events();
    assert!(finished(&events).contains(&"snapshot"), "{events:?}");
    assert_eq!(tool.invoke(json!({})).json(), json!([true, ["salve"]]));
    let version = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let image = version["image_digest"].as_str().expect("a digest").to_owned();
    let stored = server.artifacts();
    assert!(
        stored.iter().any(|(path, _)| path.file_name().is_some_and(|name| image.ends_with(&*name.to_string_lossy())))
    );
    let id = tool.id().to_owned();
    drop(tool);
    drop(worker);
    server.forget_snapshots();
    let team = restarted_alone(team, server);
    identical(&team, &id);
}

#[test]
fn refusals_are_the_same_as_the_servers() {
    let server = server();
    let _worker = worker(&server);
    let team = Team::on(&server);
    let alone = Team::new();
    for (name, before, body) in [("syntax", "", "return ("), ("import", "raise KeyError('x')", "return 1")] {
        let refusal = |team: &Team| team.tool(name).source(before, body).pushed().publish(Bump::Minor).expect(400);
        let (here, there) = (refusal(&team), refusal(&alone));
        assert_eq!((&here["code"], &here["detail"]), (&there["code"], &there["detail"]));
        assert_eq!(here["code"], "build_failed");
    }
    works(&team, "after");
}

/// The server has to store and compile an image that only its worker has used.
#[test]
fn typescript_is_built_by_a_worker() {
    let Some(esbuild) = javascript::esbuild() else { return };
    let options = Options { environment: vec![("LATHE_ESBUILD".to_owned(), esbuild.clone())], ..Options::default() };
    let server = server_with_workers(options);
    let worker = Worker::with(&server, &["--esbuild", &esbuild]);
    let team = Team::on(&server);
    let tool = javascript::typescript(&team, "greet", &json!({}), "", "return { said: toolInput.name as string };");
    let tool = tool.with_file("input.json", r#"{"type": "object", "properties": {"name": {"type": "string"}}}"#);
    let package = json!({"name": "greet", "type": "module", "lathe": {"input_schema": "input.json"}});
    let tool = tool.with_file("package.json", &package.to_string()).pushed();
    let events = tool.publish_request(Bump::Minor).events();
    assert!(finished(&events).contains(&"bundle"), "{events:?}");
    assert_eq!(tool.invoke(json!({"name": "Ada"})).json(), json!({"said": "Ada"}));
    let id = tool.id().to_owned();
    drop(tool);
    let team = restarted_alone(team, server);
    identical(&team, &id);
    drop(worker);
}

/// The server inspects and compiles the component again.
#[test]
fn rust_is_built_by_a_worker() {
    let Some(toolchain) = machine::toolchain() else { return };
    let toolchain = toolchain.to_str().expect("UTF-8").to_owned();
    let index = machine::crate_index();
    let given = ["--rust-toolchain", &toolchain, "--crate-index", &index];
    let arguments = given.map(str::to_owned).to_vec();
    let server = server_with_workers(Options { arguments, ..Options::default() });
    let worker = Worker::with(&server, &given);
    let team = Team::on(&server);
    let tool = Project::new(&team).published();
    let run = tool.invoke(&json!({"name": "Ada", "times": 1}));
    assert_eq!(run.output(), r#"{"greetings":["Hello, Ada!"],"delivered":true}"#);
    let version = tool.version("1.0.0");
    let log = version["build_log"].as_str().expect("a log");
    for words in ["rustc 1.", "Compiling lathe", "inspect: done"] {
        assert!(log.contains(words), "{words:?} is not in {log}");
    }
    let sbom = team.get(&format!("/tool/{}/version/1.0.0/sbom", tool.id())).to_string();
    assert!(sbom.contains("pkg:cargo/serde@1.0.") && sbom.contains("pkg:generic/rust@1."), "{sbom}");
    let id = tool.id().to_owned();
    drop(tool);
    let team = restarted_alone(team, server);
    identical(&team, &id);
    drop(worker);
}

/// Two builds run at a time, and a third waits.
#[test]
fn a_worker_with_two_jobs_builds_for_two_organizations() {
    let server = server();
    let worker = Worker::with(&server, &["--jobs", "2"]);
    let teams = [Team::on(&server), Team::on(&server)];
    let tools: Vec<_> = teams.iter().flat_map(|team| ["one", "two"].map(|name| tool(team, name))).collect();
    std::thread::scope(|scope| {
        let publish = |tool| scope.spawn(move || crate::harness::Tool::publish(tool, Bump::Minor).expect(201));
        let publishing: Vec<_> = tools.iter().map(publish).collect();
        publishing.into_iter().for_each(|one| drop(one.join().expect("a version")));
    });
    drop(worker);
}
