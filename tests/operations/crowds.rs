//! Overload: which calls are refused, with which message, and which continue.

use serde_json::{Value, json};

use crate::harness::{Options, Server, Site, Team, Tool, eventually, input, runs_going_on};
use crate::mcp::client::Gateway;

fn inputs(site: &Site, count: usize) -> Value {
    json!({"inputs": vec![input(&site.hold()); count]})
}

/// A server with one run at a time per organisation, two in all, and a queue of one.
fn crowded() -> std::sync::Arc<Server> {
    let bounds =
        ["--parallel-runs=2", "--queued-runs=1", "--organization-parallel-runs=1", "--organization-queued-runs=0"];
    let mut options = Options::reaching_loopback();
    options.arguments.extend(bounds.map(str::to_owned));
    Server::private(&options)
}

/// Starts runs and waits until `going_on` are recorded. The server is killed before they end.
fn start<'s>(scope: &'s std::thread::Scope<'s, '_>, tool: &'s Tool<'_>, runs: Value, going_on: i64, server: &Server) {
    scope.spawn(move || drop(tool.invoke_request(&runs).try_send()));
    eventually("the start of the runs", || (runs_going_on(server.data()) == going_on).then_some(()));
}

/// An input of some bytes.
fn of_bytes(mut held: Value, bytes: usize) -> Value {
    held["pad"] = json!("x".repeat(bytes));
    json!({"inputs": [input(&held)]})
}

#[test]
fn inputs_beyond_their_bytes_are_refused_on_every_way_in() {
    let mut options = Options::reaching_loopback();
    options.arguments.push("--input-megabytes=1".to_owned());
    let (site, server) = (Site::serve(), Server::private(&options));
    let (first, second) = (Team::on(&server), Team::on(&server));
    let slow = first.tool("slow").held_by(&site).published();
    let quick = second.tool("quick").body("return 'done'").published();
    let agent = Gateway::new(&first, "tools", &["slow"]);
    for _ in 0..2 {
        let alone = quick.invoke_request(&of_bytes(json!({}), 600_000)).send();
        assert_eq!(alone.status, 200, "the bytes of calls that have ended are free: {alone}");
    }
    std::thread::scope(|scope| {
        start(scope, &slow, of_bytes(site.hold(), 600_000), 1, &server);
        let refused = slow.invoke_request(&of_bytes(json!({}), 300_000)).send();
        assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_runs"), "{refused}");
        assert!(
            refused.detail().contains("the inputs of the running and waiting runs of this organization"),
            "{refused}"
        );
        assert_eq!(refused.headers["retry-after"], "1");
        let asynchronous = slow.invoke_request(&of_bytes(json!({}), 300_000)).header("prefer", "respond-async").send();
        assert_eq!(asynchronous.status, 202, "the operation has the refusal: {asynchronous}");
        let path = format!("/operation/{}", asynchronous.json()["id"].as_str().unwrap());
        let failed = eventually("the end of the operation", || {
            Some(first.get(&path)).filter(|operation| operation["status"] == "failed")
        });
        assert_eq!(failed["error"]["code"], "too_many_runs", "{failed}");
        let by_agent = agent.call("slow", json!({"pad": "x".repeat(300_000)}));
        assert_eq!(by_agent["_meta"]["dev.lathe/error"]["type"], "too_many_runs", "{by_agent}");
        assert_eq!(agent.call("slow", json!({}))["isError"], false, "a small call fits");

        let refused = quick.invoke_request(&of_bytes(json!({}), 600_000)).send();
        assert_eq!((refused.status, refused.code().as_str()), (503, "overloaded"), "{refused}");
        assert_eq!(quick.invoke(json!({})).output(), "done");
        server.kill();
    });
}

#[test]
fn calls_beyond_a_bound_are_refused_by_name_and_not_recorded() {
    let (site, server) = (Site::serve(), crowded());
    let (first, second, third) = (Team::on(&server), Team::on(&server), Team::on(&server));
    let slow = first.tool("slow").held_by(&site).published();
    let quick = third.tool("quick").body("return 'done'").published();
    let crowd = second.tool("slow").held_by(&site).published();
    std::thread::scope(|scope| {
        start(scope, &slow, inputs(&site, 1), 1, &server);
        let refused = slow.invoke_request(&inputs(&site, 1)).send();
        assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_runs"), "{refused}");
        assert_eq!(refused.headers["retry-after"], "1");
        assert_eq!(quick.invoke(json!({})).output(), "done");

        start(scope, &crowd, inputs(&site, 2), 3, &server);
        let refused = quick.invoke_request(&inputs(&site, 1)).send();
        assert_eq!((refused.status, refused.code().as_str()), (503, "overloaded"), "{refused}");
        assert_eq!(refused.headers["retry-after"], "1");
        assert_eq!(runs_going_on(server.data()), 3);
        server.kill();
    });
}
