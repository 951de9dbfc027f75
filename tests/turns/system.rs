//! The tools of the server that can be called in every turn.

use serde_json::json;

use super::talk::{Agent, decision, id};
use crate::harness::{Options, Server, Site, Team};
use crate::mcp::client::Gateway;

#[test]
fn s3_034_system_tools_need_no_specification() {
    let team = Team::new();
    let tool = team.tool("work").body("return 'done'").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()]), decision("none", &[])]);
    let talk = agent.talk();
    let turn = talk.turn("none");
    let system: Vec<_> = turn["system_tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(system, ["forward_call", "get_tool_call_status"], "S3-034: {turn}");
    let wish = json!({"destination": "billing", "reason": "a refund"});
    let forwarded = talk.run(&turn, "forward_call", wish.clone()).json();
    let expected = json!({
        "status": "forward_requested", "destination": "billing", "reason": "a refund", "turn_id": turn["id"],
    });
    assert_eq!(forwarded, expected, "S3-034");
    let by_mcp = agent.call(&turn, "forward_call", wish);
    assert_eq!(by_mcp["result"]["structuredContent"], expected, "S3-034: {by_mcp}");
    let recorded = team.get(&format!("/tool/invocation?native_tool=forward_call&conversation_id={}", talk.id));
    assert_eq!(recorded["tool_invocations"].as_array().unwrap().len(), 2, "S3-034: {recorded}");

    let working = talk.turn("ask");
    let run = talk.run(&working, "work", json!({}));
    let asked = json!({"invocation_id": run.id()});
    let status = talk.run(&turn, "get_tool_call_status", asked.clone()).json();
    assert_eq!((&status["status"], status["duration_ms"].is_u64()), (&json!("succeeded"), true), "S3-034: {status}");
    let elsewhere = agent.talk();
    let turn = elsewhere.turn("none");
    let unknown = elsewhere.run(&turn, "get_tool_call_status", asked);
    assert_eq!(unknown.0["exception_type"], "tool_call_unknown", "S3-034: {}", unknown.0);
}

#[test]
fn s3_034_the_status_of_a_running_call_is_known() {
    let site = Site::serve();
    let team = Team::on(&Server::private(&Options::reaching_loopback()));
    let slow = team.tool("slow").held_by(&site).published();
    let fails = team.tool("fails").body("raise ValueError('no')").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[slow.id(), fails.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    let status = |run: &str| talk.run(&turn, "get_tool_call_status", json!({"invocation_id": run})).json();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| talk.run(&turn, "slow", site.hold()));
        site.held.is_reached_by(1);
        let listed = team.get(&format!("/tool/invocation?state=running&turn_id={}", id(&turn)));
        let run = id(&listed["tool_invocations"][0]).to_owned();
        let found = status(&run);
        assert_eq!((&found["status"], &found["duration_ms"]), (&json!("running"), &json!(null)), "S3-034: {found}");
        site.held.open();
        assert_eq!(running.join().expect("a run").output(), "rested");
        assert_eq!(status(&run)["status"], "succeeded", "S3-034");
    });
    let failed = talk.run(&turn, "fails", json!({}));
    assert_eq!(status(failed.id())["status"], "failed", "S3-034");
}

#[test]
fn s3_034_system_tools_are_of_turns_only() {
    let team = Team::new();
    let agent = Agent::new(&team, "support").with(&[decision("none", &[])]);
    let gateway = Gateway { team: &team, slug: "support".to_owned(), id: agent.id.clone() };
    let names = gateway.names();
    let of_turns = ["forward_call", "get_tool_call_status"];
    assert!(
        !names.iter().any(|name| of_turns.contains(&name.as_str())),
        "S3-034: not listed outside of turns: {names:?}"
    );
    let refused = gateway.send("tools/call", json!({"name": "forward_call", "arguments": {}}));
    assert_eq!(refused["error"]["code"], -32602, "S3-034: {refused}");
}

#[test]
fn s3_034_a_published_tool_does_not_take_their_names() {
    let team = Team::new();
    let tool = team.tool("forward_call").body("return 'mine'").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    assert_eq!(turn["tools"][0]["name"], "tools_forward_call", "S3-034: {}", id(&turn));
    assert_eq!(talk.run(&turn, "tools_forward_call", json!({})).output(), "mine");
    let forwarded = talk.run(&turn, "forward_call", json!({"destination": "a", "reason": "b"}));
    assert!(forwarded.output().contains("forward_requested"), "S3-034");
}
