//! In a simulation nothing changes the world: mocks answer, and what has none is refused.

use serde_json::{Value, json};

use super::{ASK, authority, reaching};
use crate::harness::{Options, Site, Team, input};

#[test]
fn a_simulation_changes_nothing() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let mocks = json!([
        {"request": {"method": "POST", "url": site.url("/orders"), "body": {"a": 1}},
         "response": {"status": 201, "body": {"id": 7}}},
        {"request": {"method": "GET", "url": site.url("/mocked/*")}, "response": {"body": "not the site"}},
    ]);
    let tool = team.tool("asks").body(ASK).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site)));
    let tool = tool.with_file("mocks/orders.json", &mocks.to_string()).published();
    let requests = json!([
        {"url": site.url("/orders"), "body": "{\"a\":1}"},
        {"url": site.url("/mocked/1")},
        {"url": site.url("/orders"), "body": "{\"a\":2}"},
        {"url": site.url("/status/204")},
        {"url": site.url("/status/204"), "method": "DELETE"},
        {"url": "https://api.example.com/", "method": "DELETE"},
    ]);
    let mut one = input(&json!({ "requests": requests }));
    one["invocation_mode"] = json!("conversation-simulation");
    let run = tool.invoke_inputs(&json!({"inputs": [one]})).remove(0);
    let said: Vec<Value> = serde_json::from_value(run.json()).expect("a list");
    assert_eq!((&said[0]["status"], &said[0]["body"]), (&json!(201), &json!("{\"id\":7}")));
    assert_eq!(said[1]["body"], "not the site");
    assert_eq!((&said[2]["type"], &said[2]["code"]), (&json!("EgressRefused"), &json!("simulated")), "{said:?}");
    assert_eq!(said[3]["status"], 204);
    assert_eq!(said[4]["code"], "simulated");
    assert_eq!(said[5]["code"], "denied", "a simulation opens no door");
    assert_eq!(site.connections(), 1);
    let ledger = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"].clone();
    let by: Vec<_> = ledger["used"]["http"].as_array().expect("a list").iter().map(|one| &one["answered_by"]).collect();
    assert_eq!(json!(by), json!(["mock", "mock", null, "network", null, null]));

    let regular = tool.invoke(json!({ "requests": [requests[0]] })).json();
    assert!(regular[0]["body"].as_str().expect("text").contains("\"method\":\"POST\""), "{regular}");
    assert_eq!(site.connections(), 2);
}

#[test]
fn a_mock_that_could_never_answer_refuses_the_publish() {
    let team = Team::new();
    let tool = team.tool("mocked").with_file("mocks/a.json", "[{\"request\": {\"method\": \"POST\"}}]").pushed();
    let detail = tool.publish(crate::harness::Bump::Minor).expect(400)["detail"].to_string();
    assert!(detail.contains("mocks/a.json") && detail.contains("mock 0: missing field"), "{detail}");
}
