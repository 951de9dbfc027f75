//! A database that goes away and comes back under work: calls succeed or get 503, and nothing that was acknowledged is lost or
//! done twice.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Nodes, Team, eventually, input};

const SCHEMA: &str = r#"{"type":"object","properties":{"number":{"type":"string"}},"required":["number"]}"#;

/// Two nodes with a tool that returns the number of its call.
struct Counting {
    nodes: Nodes,
    team: Team,
    path: String,
}

impl Counting {
    fn on(nodes: Nodes) -> Self {
        let team = nodes.team();
        let tool = team.tool("greet").body("return tool_input['number']").manifest("input_schema = 'input.json'");
        let tool = tool.with_file("input.json", SCHEMA).published();
        let path = format!("/tool/{}/version/%3E%3D0/invoke", tool.id());
        Self { nodes, team, path }
    }

    /// Calls the tool at a node. Returns whether the call was acknowledged.
    fn call(&self, node: usize, number: &str) -> bool {
        let body = json!({"inputs": [input(&json!({"number": number}))]});
        let answer = self.nodes.request(node, &self.team, "POST", &self.path).json(&body).send();
        match answer.status {
            200 => true,
            503 => false,
            other => panic!("{other}: {}", answer.json()),
        }
    }

    /// The records of all calls, after the end of the last one.
    fn records(&self) -> Vec<Value> {
        eventually("the end of all records", || {
            let request = self.nodes.request(1, &self.team, "GET", "/tool/invocation");
            let running = request.query(&[("state", "running")]).send();
            (running.status == 200 && running.json()["tool_invocations"].as_array().is_some_and(Vec::is_empty))
                .then_some(())
        });
        let list = self.nodes.request(0, &self.team, "GET", "/tool/invocation").query(&[("limit", "100")]);
        list.send().expect(200)["tool_invocations"].as_array().expect("a list").clone()
    }

    /// Asserts that each acknowledged call was recorded, and none twice.
    #[track_caller]
    fn assert_recorded_once(&self, acknowledged: &[String]) {
        let records = self.records();
        let count = |number: &Value| records.iter().filter(|record| record["inputs"]["number"] == *number).count();
        assert!(records.len() < 100, "the records are more than a page");
        assert!(records.iter().all(|record| count(&record["inputs"]["number"]) == 1), "a call was recorded twice");
        for number in acknowledged {
            assert_eq!(count(&json!(number)), 1, "{number}");
        }
    }
}

#[test]
fn a_database_that_crashes_loses_and_doubles_nothing() {
    let Some(nodes) = Nodes::start(2) else { return };
    let mut counting = Counting::on(nodes);
    let mut acknowledged = Vec::new();
    for crash in 0..3 {
        for call in 0..20 {
            if call == 10 {
                counting.nodes.place.cluster.crash();
            }
            let number = format!("{crash}-{call}");
            if counting.call(call % 2, &number) {
                acknowledged.push(number);
            }
        }
    }
    assert!(acknowledged.len() > 40, "{} calls were acknowledged", acknowledged.len());
    counting.assert_recorded_once(&acknowledged);
}

/// Calls of each client after the host is back.
const CALLS_AFTER: usize = 10;

/// The host loses its power or its network: its connections are not closed. It comes back on another path.
#[test]
fn a_database_whose_host_vanishes_loses_and_doubles_nothing() {
    let Some((nodes, relay)) = Nodes::start_behind_relay(2) else { return };
    let (counting, outage) = (Counting::on(nodes), Outage::default());
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2)
            .map(|client| {
                let (outage, counting) = (&outage, &counting);
                scope.spawn(move || outage.calls(counting, client))
            })
            .collect();
        eventually("calls", || (outage.acknowledged.load(Ordering::Relaxed) > 10).then_some(()));
        relay.vanish();
        eventually("refusals", || (outage.refused.load(Ordering::Relaxed) >= 4).then_some(()));
        let ready = counting.nodes.servers[0].request("GET", "/health/ready").send();
        assert_eq!((ready.status, ready.code()), (503, "not_ready".to_owned()));
        relay.return_on_another_path();
        outage.is_over.store(true, Ordering::Relaxed);
        clients.into_iter().flat_map(|client| client.join().expect("a client")).collect()
    });
    println!("{} calls were acknowledged, {} refused", acknowledged.len(), outage.refused.load(Ordering::Relaxed));
    counting.assert_recorded_once(&acknowledged);
}

/// The state that the clients share while the database is away.
#[derive(Default)]
struct Outage {
    acknowledged: AtomicUsize,
    refused: AtomicUsize,
    is_over: AtomicBool,
}

impl Outage {
    /// Calls until some calls after the outage were acknowledged. Returns the acknowledged calls.
    fn calls(&self, counting: &Counting, client: usize) -> Vec<String> {
        let (mut acknowledged, mut after) = (Vec::new(), 0);
        for call in 0.. {
            let number = format!("{client}-{call}");
            if counting.call(client, &number) {
                acknowledged.push(number);
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
                after += usize::from(self.is_over.load(Ordering::Relaxed));
            } else {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            if after == CALLS_AFTER {
                break;
            }
            // Leaves the records of all calls on one page.
            std::thread::sleep(Duration::from_millis(50));
        }
        acknowledged
    }
}
