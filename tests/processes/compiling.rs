//! Compiling processes that are killed.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Bump, Lathe, Options, Server, Team, compiling_processes, eventually};

fn readiness(server: &Server) -> u16 {
    server.request("GET", "/health/ready").send().status
}

/// As the system kills processes when the machine lacks memory. Once, the server starts another one at once; twice, it is not ready
/// for a while.
#[test]
fn killed_processes_do_not_make_an_image_unusable() {
    let server = Server::private(&Options { has_own_cache: true, ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("greets").body("return 'hello'").pushed().id().to_owned();
    server.signal(Signal::SIGTERM);
    server.ended();
    for (code, _) in server.compiled() {
        std::fs::remove_file(code).expect("compiled code");
    }
    let server = server.restarted(|_| {});
    for _ in 0..2 {
        let child = eventually("a compiling process", || compiling_processes(&server).pop());
        child.signal(Signal::SIGKILL);
        child.ended();
    }
    eventually("the failure", || Some(server.log_about("was interrupted")).filter(|log| !log.is_empty()));
    let told = server.log_about("was interrupted");
    assert!(told.contains("short of memory") && told.contains("tries it again"), "{told}");
    // A killed process says nothing about the image.
    assert_eq!(server.log_about("does not compile"), "");
    let team = team.moved_to(server.clone());
    // The call waits until the image is compiled.
    let tool = team.tool("greets").with_id(&tool);
    tool.publish(Bump::Minor).expect(201);
    assert_eq!(tool.invoke(json!({})).output(), "hello");
    eventually("readiness", || (readiness(&server) == 200).then_some(()));
    assert!(server.log_about("a language image is compiled").contains("python"), "an operator reads when it is there");
}

/// Off a terminal, the first build on a machine says what it waits for.
#[test]
fn the_first_build_says_that_it_waits_for_an_image() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    lathe.ok(&["tool", "new", "greet"]);
    let said = lathe.run(&["tool", "test", "tools/greet"]).ok();
    let line = "the code of the python image is being compiled: once on this machine, and again after an upgrade";
    assert!(said.stderr.contains(line) && said.stderr.contains("    image  "), "{said:?}");
    // The code is in the cache now.
    assert!(!lathe.run(&["tool", "test", "tools/greet"]).ok().stderr.contains("is being compiled"));
}
