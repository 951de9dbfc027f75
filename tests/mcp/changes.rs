//! Changes of the tools that a client sees, and clients that go away.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Gateway;
use super::stream::Stream;
use crate::harness::{Bump, Team};

const CHANGED: &str = "notifications/tools/list_changed";

fn listen(gateway: &Gateway<'_>) -> Stream {
    let params = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = Stream::open(gateway, "subscriptions/listen", params);
    stream.until("notifications/subscriptions/acknowledged");
    stream
}

#[test]
fn a_subscription_learns_of_a_deployment_a_publication_and_a_deprecation() {
    let team = Team::new();
    let tool = team.tool("shout").body("return 1").published();
    let gateway = Gateway::new(&team, "tools", &[]);
    let lathe = team.lathe();
    let mut stream = listen(&gateway);
    lathe.ok(&["agent", "assign", "tools", "shout"]);
    lathe.ok(&["agent", "deploy", "tools"]);
    stream.until(CHANGED);
    tool.body("return 2").pushed().publish(Bump::Minor).expect(201);
    stream.until(CHANGED);
    lathe.ok(&["tool", "deprecate", "shout", "--yes"]);
    stream.until(CHANGED);
}

#[test]
fn a_call_is_cancelled_when_its_client_goes_away() {
    let team = Team::new();
    team.tool("wait").body("import asyncio\nawait send_status_event('begun')\nawait asyncio.sleep(60)").published();
    let gateway = Gateway::new(&team, "tools", &["wait"]);
    let running = || team.get(&format!("/tool/invocation?state=running&agent_id={}", gateway.id));
    let has_run = |listed: &Value| listed["tool_invocations"].as_array().is_some_and(|runs| !runs.is_empty());
    let stream = Stream::open(&gateway, "tools/call", json!({"name": "wait", "arguments": {}}));
    eventually("the run begins", || has_run(&running()));
    drop(stream);
    let ended = || team.get(&format!("/tool/invocation?agent_id={}", gateway.id));
    eventually("the run ends", || has_run(&ended()));
    let run = &ended()["tool_invocations"][0];
    assert_eq!(run["invocation_status"]["exception_type"], "cancelled", "{run}");
    assert!(run["agent_call"]["client"].is_null(), "a client without a name: {run}");
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..150 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(200));
    }
    panic!("it was not seen that {what}");
}
