//! SIGTERM: running work ends, is recorded and answered; new work is refused.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Options, Server, Site, Team, eventually, input};

#[test]
fn a_shutdown_waits_for_running_work() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    let id = std::thread::scope(|scope| {
        let run = scope.spawn(|| tool.invoke(site.hold()));
        site.held.is_reached_by(1);
        server.signal(Signal::SIGTERM);
        refuses(&server);
        site.held.open();
        let run = run.join().expect("the answer arrives");
        assert_eq!(run.output(), "rested");
        run.id().to_owned()
    });
    let status = server.ended();
    assert_eq!(status.code(), Some(0));
    drop(tool);
    let again = server.restarted(|_| {});
    let team = team.moved_to(again);
    assert_eq!(team.get(&format!("/tool/invocation/{id}"))["invocation_status"]["output"], "rested");
}

/// Waits until the server has received the signal: it closes the port.
fn refuses(server: &Server) {
    eventually("the end of listening", || std::net::TcpStream::connect(server.address()).is_err().then_some(()));
}

#[test]
fn a_shutdown_refuses_new_work() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| tool.invoke(site.hold()));
        site.held.is_reached_by(1);
        server.signal(Signal::SIGTERM);
        eventually("the refusal", || {
            let late = tool.invoke_request(&json!({"inputs": [input(&json!({}))]})).try_send();
            // The port is closed, or an earlier connection gets a 503.
            late.map_or(Some(()), |answer| (answer.status == 503).then_some(()))
        });
        site.held.open();
        assert_eq!(run.join().expect("the answer arrives").output(), "rested");
    });
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn an_interrupt_is_a_stop_too() {
    let server = Server::private(&Options::default());
    server.signal(Signal::SIGINT);
    assert_eq!(server.ended().code(), Some(0));
    assert!(!server.log_about("stopped").is_empty());
}
