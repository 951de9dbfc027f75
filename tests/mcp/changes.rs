//! Changes of the tools that a client sees, and clients that go away.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Gateway;
use super::stream::Stream;
use crate::harness::{Bump, EmbeddingEndpoint, EndpointBehaviour, Options, Server, Team};

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

/// The search waits for the vector of its query, but not for as long as a client may take to go away.
#[test]
fn s4_041_a_call_of_a_tool_of_the_server_is_cancelled_when_its_client_goes_away() {
    let endpoint = EmbeddingEndpoint::serve();
    endpoint.behaves(EndpointBehaviour::StaysSilent);
    let arguments = ["--embeddings-url", &endpoint.url(), "--embeddings-model", "small"].map(str::to_owned).to_vec();
    let team = Team::on(&Server::private(&Options { arguments, ..Options::default() }));
    let gateway = Gateway::of_type(&team, "seeker", "agent").with(&[]);
    let runs = || {
        let listed = team.get(&format!("/tool/invocation?agent_id={}", gateway.id));
        listed["tool_invocations"].as_array().cloned().expect("a list")
    };
    eventually("a search is cancelled", || {
        let (asked, before) = (endpoint.received().len(), runs().len());
        let search = json!({"name": "memory_search", "arguments": {"query": "a car"}});
        let stream = Stream::open(&gateway, "tools/call", search);
        eventually("the endpoint is asked", || endpoint.received().len() > asked);
        drop(stream);
        eventually("the search ends", || runs().len() > before);
        runs()[0]["invocation_status"]["exception_type"] == "cancelled"
    });
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
