//! Workers that are missing, die or stop.

use nix::sys::signal::Signal;
use serde_json::json;

use super::{HeldIndex, refused, server, tool, worker, works};
use crate::harness::{Bump, Options, Server, Team, Worker, eventually, scratch_of_workers, server_with_workers};

/// Top-level code runs while a tool is built. It sleeps for the forty seconds that a build allows, until its worker is killed.
const ENDLESS: &str = "import time\ntime.sleep(40)";

#[test]
fn without_a_worker_a_build_is_refused_with_the_next_step() {
    let server = server();
    let team = Team::on(&server);
    let tool = tool(&team, "greet");
    refused(&team, &tool, "no_build_worker");
    let said = team.lathe().run(&["tool", "publish", "greet", "--bump", "minor"]);
    said.refused(1, &["none is connected", "lathe worker"]);
    let seen = team.lathe().run(&["doctor", "--data", server.data().to_str().expect("UTF-8")]);
    assert!(seen.stdout.contains("build workers") && seen.stdout.contains("lathe worker"), "{seen:?}");
    let _worker = worker(&server);
    tool.publish(Bump::Minor).expect(201);
    eventually("an idle worker", || {
        let seen = team.lathe().run(&["doctor", "--data", server.data().to_str().expect("UTF-8")]);
        seen.stdout.contains("1 connected, 0 busy").then_some(())
    });
}

/// Another worker starts the build again.
#[test]
fn a_build_outlives_its_worker() {
    let index = HeldIndex::serve();
    let server = index.server(&[]);
    let team = Team::on(&server);
    let tool = index.tool(&team, "held");
    let first = index.worker(&server);
    std::thread::scope(|scope| {
        let publishing = scope.spawn(|| tool.publish(Bump::Minor));
        index.has_begun(1);
        let _second = index.worker(&server);
        first.signal(Signal::SIGKILL);
        index.has_begun(2);
        index.open();
        publishing.join().expect("an answer").expect(201);
    });
    let version = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    assert!(
        version["build_log"].as_str().expect("a log").contains("the build worker ended during this build"),
        "{version}"
    );
    assert_eq!(tool.invoke(json!({})).output(), "hello");
}

#[test]
fn a_build_that_ends_two_workers_is_given_up_and_leaves_nothing() {
    let server = server();
    let team = Team::on(&server);
    let tool = team.tool("endless").source(ENDLESS, "return 'hello'").pushed();
    let mut workers = vec![worker(&server), worker(&server)];
    std::thread::scope(|scope| {
        let publishing = scope.spawn(|| refused(&team, &tool, "build_worker_lost"));
        while !workers.is_empty() {
            let mut worker = Worker::compiling(&mut workers);
            worker.signal(Signal::SIGKILL);
            worker.ended();
        }
        publishing.join().expect("an answer");
    });
    eventually("the removal of their temporary files", || scratch_of_workers(&server).is_empty().then_some(()));
    // The tool is free again, and the server continues.
    let third = worker(&server);
    assert_eq!(scratch_of_workers(&server).len(), 1);
    tool.body("return 'hello'").pushed().publish(Bump::Minor).expect(201);
    drop(third);
}

#[test]
fn a_worker_that_is_stopped_finishes_its_build() {
    let index = HeldIndex::serve();
    let server = index.server(&[]);
    let team = Team::on(&server);
    let tool = index.tool(&team, "held");
    let mut worker = index.worker(&server);
    std::thread::scope(|scope| {
        let publishing = scope.spawn(|| tool.publish(Bump::Minor));
        index.has_begun(1);
        worker.signal(Signal::SIGTERM);
        index.open();
        publishing.join().expect("an answer").expect(201);
    });
    assert_eq!(worker.ended().code(), Some(0), "{}", worker.said());
    assert!(scratch_of_workers(&server).is_empty());
    refused(&team, &self::tool(&team, "next"), "no_build_worker");
}

/// A worker without a build has nothing to finish.
#[test]
fn an_idle_worker_stops_immediately() {
    let server = server();
    let mut worker = worker(&server);
    worker.signal(Signal::SIGINT);
    assert_eq!(worker.ended().code(), Some(0), "{}", worker.said());
}

#[test]
fn a_worker_reconnects_to_a_restarted_server() {
    let server = server();
    let team = Team::on(&server);
    let mut worker = worker(&server);
    server.kill();
    let again = server.restarted(|_| ());
    let team = team.moved_to(again);
    works(&team, "greet");
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.ended().code(), Some(0), "{}", worker.said());
}

/// Server and worker can be started in either order.
#[test]
fn a_worker_waits_for_its_server() {
    let server = server();
    server.kill();
    let worker = Worker::start(server.data(), &[], std::path::Path::new(env!("CARGO_BIN_EXE_lathe")));
    eventually("an attempt to connect", || worker.said().contains("waiting for a server").then_some(()));
    let team = Team::on(&server.restarted(|_| ()));
    works(&team, "greet");
    drop(worker);
}

/// The worker cancels the build of a dead server, and takes the next job.
#[test]
fn a_server_that_dies_takes_its_build_with_it() {
    let index = HeldIndex::serve();
    let server = index.server(&[]);
    let team = Team::on(&server);
    let tool = index.tool(&team, "held");
    let worker = index.worker(&server);
    let request = tool.publish_request(Bump::Minor);
    std::thread::scope(|scope| {
        let publishing = scope.spawn(move || request.try_send().is_err());
        index.has_begun(1);
        server.kill();
        assert!(publishing.join().expect("no answer"));
    });
    eventually("the end of the build", || {
        worker.said().contains("the connection to the server has ended").then_some(())
    });
    let id = tool.id().to_owned();
    drop(tool);
    let team = team.moved_to(server.restarted(|_| ()));
    // The dead server's lease lasts half a minute.
    works(&team, "other");
    assert!(!id.is_empty());
}

#[test]
fn workers_are_counted() {
    let arguments = vec!["--metrics-listen".to_owned(), "127.0.0.1:0".to_owned()];
    let server = server_with_workers(Options { arguments, ..Options::default() });
    assert!(metrics(&server).contains("\nlathe_build_workers 0"), "{}", metrics(&server));
    let worker = Worker::with(&server, &["--jobs", "2"]);
    eventually("two connections", || metrics(&server).contains("\nlathe_build_workers 2").then_some(()));
    worker.signal(Signal::SIGKILL);
    eventually("none", || metrics(&server).contains("\nlathe_build_workers 0").then_some(()));
}

fn metrics(server: &Server) -> String {
    let line = eventually("the listener of metrics", || {
        Some(server.log_about("serving metrics")).filter(|line| !line.is_empty())
    });
    let url = line.split_whitespace().find_map(|word| word.split_once("http://")).expect("a URL").1;
    crate::harness::fetch(&format!("http://{}", url.trim_end_matches('"')))
}

/// Compiling the image takes many seconds. Nothing waits for it.
#[test]
fn a_worker_that_compiles_ends_at_a_signal() {
    let server = server();
    let cache = tempfile::tempdir().expect("a directory");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_lathe"));
    let mut worker = Worker::start_with_cache(server.data(), cache.path(), &[], program);
    eventually("the compiling child", || worker.said().contains("preparing the language image").then_some(()));
    eventually("the compiling child", || worker.has_child().then_some(()));
    worker.signal(Signal::SIGTERM);
    assert!(worker.ended().success(), "{}", worker.said());
    let said = worker.said();
    assert!(said.contains("stopping: no build is running") && !said.contains("does not compile"), "{said}");
    let compiled = std::fs::read_dir(cache.path()).expect("the cache").flatten();
    let sizes: Vec<_> = compiled.map(|entry| (entry.path(), files_below(&entry.path()))).collect();
    assert!(sizes.iter().all(|(_, files)| *files == 0), "the image was compiled to its end: {sizes:?}");
}

/// The number of large files below a path.
fn files_below(path: &std::path::Path) -> usize {
    const CODE_BYTES_MIN: u64 = 1 << 20;
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| files_below(&entry.path())).sum(),
        Err(_) => usize::from(path.metadata().is_ok_and(|file| file.len() > CODE_BYTES_MIN)),
    }
}
