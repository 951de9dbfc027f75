//! A database that goes away and comes back under work.

use serde_json::json;

use crate::harness::{Nodes, eventually, input};

/// Calls succeed or get 503, the servers are not ready while the database is away, and nothing that was acknowledged is lost.
#[test]
fn a_database_that_crashes_loses_and_doubles_nothing() {
    let Some(mut nodes) = Nodes::start(2) else { return };
    let team = nodes.team();
    let tool = team.tool("greet").body("return tool_input['number']").manifest("input_schema = 'input.json'");
    let schema = r#"{"type":"object","properties":{"number":{"type":"string"}},"required":["number"]}"#;
    let tool = tool.with_file("input.json", schema).published();
    let path = format!("/tool/{}/version/%3E%3D0/invoke", tool.id());
    let (mut acknowledged, mut refused) = (Vec::new(), 0);
    for crash in 0..3 {
        for call in 0..20 {
            if call == 10 {
                nodes.place.cluster.crash();
            }
            let number = format!("{crash}-{call}");
            let body = json!({"inputs": [input(&json!({"number": number}))]});
            let answer = nodes.request(call % 2, &team, ("POST", &path)).json(&body).send();
            match answer.status {
                200 => acknowledged.push(number),
                503 => refused += 1,
                other => panic!("{other}: {}", answer.json()),
            }
        }
    }
    assert!(acknowledged.len() > 40, "{refused} calls were refused");
    eventually("the end of all records", || {
        let running = nodes.request(1, &team, ("GET", "/tool/invocation")).query(&[("state", "running")]).send();
        (running.status == 200 && running.json()["tool_invocations"].as_array().is_some_and(Vec::is_empty))
            .then_some(())
    });
    let list = nodes.request(0, &team, ("GET", "/tool/invocation")).query(&[("limit", "100")]).send().expect(200);
    let recorded: Vec<_> = list["tool_invocations"].as_array().expect("a list").iter().collect();
    for number in &acknowledged {
        let of_number = |record: &&&serde_json::Value| record["inputs"]["number"] == **number;
        assert_eq!(recorded.iter().filter(of_number).count(), 1, "{number}");
    }
}
