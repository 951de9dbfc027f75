//! Compiling processes that are killed.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Bump, Options, Server, Team, compiling_processes, eventually};

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
    eventually("the failure", || Some(server.log_about("does not compile")).filter(|log| !log.is_empty()));
    assert!(
        server.log_about("does not compile").contains("short of memory"),
        "{}",
        server.log_about("does not compile")
    );
    let team = team.moved_to(server.clone());
    // The call waits until the image is compiled.
    let tool = team.tool("greets").with_id(&tool);
    tool.publish(Bump::Minor).expect(201);
    assert_eq!(tool.invoke(json!({})).output(), "hello");
    eventually("readiness", || (readiness(&server) == 200).then_some(()));
}
