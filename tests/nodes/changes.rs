//! What is changed at one server holds at the others.

use tokio::time::Instant;

use serde_json::{Value, json};

use crate::harness::{Nodes, Options, Site, Team, eventually, input};

const INVOKE: &str = "/version/%3E%3D0/invoke";

fn invoke(nodes: &Nodes, server: usize, team: &Team, tool: &str) -> crate::harness::Answer {
    let path = format!("/tool/{tool}{INVOKE}");
    nodes.request(server, team, "POST", &path).json(&json!({"inputs": [input(&json!({}))]})).send()
}

#[test]
fn a_tool_that_is_published_at_one_server_runs_and_ends_at_the_others() {
    let Some(nodes) = Nodes::start(3) else { return };
    let team = nodes.team();
    let tool = team.tool("greet").body("return 'hello'").published();
    for server in 0..3 {
        let answer = invoke(&nodes, server, &team, tool.id()).expect(200);
        assert_eq!(answer["invocation_results"][0]["output"], "hello", "server {server}");
    }
    for server in 0..3 {
        let history = nodes.request(server, &team, "GET", "/tool/invocation").send().expect(200);
        assert_eq!(history["tool_invocations"].as_array().map(Vec::len), Some(3), "server {server}");
    }
    nodes.request(2, &team, "DELETE", &format!("/tool/{}", tool.id())).send().expect(204);
    let refused = || (invoke(&nodes, 1, &team, tool.id()).status != 200).then_some(());
    eventually("the deprecation at another server", refused);
}

/// How long a revoked key works at another server.
#[test]
fn a_revoked_key_is_refused_everywhere() {
    let Some(nodes) = Nodes::start(2) else { return };
    let team = nodes.team();
    for attempt in 0..5 {
        let bob = team.joined_by(&format!("bob{attempt}"), "admin");
        nodes.request(1, &bob, "GET", "/user/me").send().expect(200);
        team.delete(&format!("/api_key/{}", bob.api_key_id)).expect(204);
        let revoked = Instant::now();
        eventually("the refusal at the other server", || {
            (nodes.request(1, &bob, "GET", "/user/me").send().status == 401).then_some(())
        });
        println!("a revoked key was refused at another server after {:?}", revoked.elapsed());
    }
}

/// The second server does not begin what the first one has begun, and answers what it was answered.
#[test]
fn an_idempotency_key_holds_at_all_servers() {
    let Some(nodes) = Nodes::start(2) else { return };
    let team = nodes.team();
    let tool = team.tool("count").body("import random\nreturn str(random.random())").published();
    let path = format!("/tool/{}{INVOKE}", tool.id());
    let ask = |server: usize| {
        let request = nodes.request(server, &team, "POST", &path).header("idempotency-key", "once");
        request.json(&json!({"inputs": [input(&json!({}))]})).send().expect(200)
    };
    let (first, second) = (ask(0), ask(1));
    assert_eq!(first["invocation_results"], second["invocation_results"]);
    assert_eq!(team.history().len(), 1);
}

#[test]
fn a_run_is_cancelled_at_another_server() {
    let Some(nodes) = Nodes::start_with(2, &Options::reaching_loopback()) else { return };
    let (team, site) = (nodes.team(), Site::serve());
    let tool = team.tool("wait").held_by(&site).published();
    let path = format!("/tool/{}{INVOKE}", tool.id());
    let body = json!({"inputs": [input(&json!({"held": site.hold()["held"]}))]});
    let ended: Value = std::thread::scope(|scope| {
        let call = scope.spawn(|| nodes.request(0, &team, "POST", &path).json(&body).send().expect(200));
        let run = eventually("the start of the run", || {
            let list = nodes.request(1, &team, "GET", "/tool/invocation").query(&[("state", "running")]).send();
            list.expect(200)["tool_invocations"][0]["id"].as_str().map(str::to_owned)
        });
        let cancel = format!("/tool/invocation/{run}/cancel");
        nodes.request(1, &team, "POST", &cancel).json(&json!({})).send().expect(204);
        call.join().expect("an answer")
    });
    assert_eq!(ended["invocation_results"][0]["exception_type"], "cancelled");
}

/// The limit of a minute is one for both servers together.
#[test]
fn a_rate_limit_holds_over_all_servers() {
    let arguments = ["--rate-limits", "contract"].map(str::to_owned).to_vec();
    let Some(nodes) = Nodes::start_with(2, &Options { arguments, ..Options::default() }) else { return };
    let team = nodes.team();
    let ask = |call: usize| nodes.request(call % 2, &team, "GET", "/tool/").send();
    let answers: Vec<_> = (0..60).map(ask).collect();
    let admitted = answers.iter().filter(|answer| answer.status == 200).count();
    let limit = answers[0].headers["x-ratelimit-limit"].to_str().expect("a number").parse::<usize>().expect("a number");
    assert!((limit..=limit + 2).contains(&admitted), "{admitted} of {limit}");
    assert_eq!(answers[59].status, 429);
    assert!(answers[59].headers.contains_key("retry-after"));
}
