//! A simulation changes nothing: mocks answer its requests, and other requests are refused.

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
    assert_eq!(said[5]["code"], "denied", "a simulation does not permit further hosts");
    assert_eq!(site.connections(), 1);
    let ledger = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"].clone();
    let by: Vec<_> = ledger["used"]["http"].as_array().expect("a list").iter().map(|one| &one["answered_by"]).collect();
    assert_eq!(json!(by), json!(["mock", "mock", null, "network", null, null]));

    let regular = tool.invoke(json!({ "requests": [requests[0]] })).json();
    assert!(regular[0]["body"].as_str().expect("text").contains("\"method\":\"POST\""), "{regular}");
    assert_eq!(site.connections(), 2);
}

/// Ways in which a request with a safe method asks a server for another method.
const HEADERS: [&str; 9] = [
    "X-HTTP-Method-Override",
    "X_HTTP_Method_Override",
    "X-HTTP-Method",
    "X-Method-Override",
    "X_Method_Override",
    "Method-Override",
    "Method_Override",
    "X-Original-Method",
    "HTTP-Method-Override",
];
const PATHS: [&str; 13] = [
    "?_method=DELETE",
    "?_Method=delete",
    "?%5Fmethod=DELETE",
    "?%5f%6d%65thod=DELETE",
    "?%255Fmethod=DELETE",
    "?_method%3DDELETE",
    "?a=1&_method=PUT",
    "?a=1;_method=PUT",
    "?.method=DELETE",
    "?method=DELETE",
    "?X-HTTP-Method-Override=DELETE",
    "?x_http_method_override=DELETE",
    ";_method=DELETE",
];

#[test]
fn a_simulation_sends_nothing_that_asks_for_another_method() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("asks").body(ASK).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site)));
    let tool = tool.manifest("limits.http_requests = 64").published();
    let of_header = |name: &&str| json!({"url": site.url("/echo"), "method": "GET", "headers": {*name: "DELETE"}});
    let of_path = |path: &&str| json!({"url": site.url(&format!("/echo{path}")), "method": "GET"});
    let of_body = json!({"url": site.url("/echo"), "method": "GET", "body": "_method=DELETE"});
    let head = json!({"url": site.url("/echo?_method=DELETE"), "method": "HEAD"});
    let harmless = ["?method=flickr.photos.search&payment_method=card", "?q=_method"].map(|path| of_path(&path));
    let hidden: Vec<_> =
        HEADERS.iter().map(of_header).chain(PATHS.iter().map(of_path)).chain([of_body, head]).collect();
    let asked: Vec<_> = hidden.iter().chain(&harmless).collect();
    let simulated = |requests: &Value| {
        let mut one = input(&json!({ "requests": requests }));
        one["invocation_mode"] = json!("conversation-simulation");
        let run = tool.invoke_inputs(&json!({"inputs": [one]})).remove(0);
        serde_json::from_value::<Vec<Value>>(run.json()).expect("a list")
    };
    let said = simulated(&json!(asked));
    for (request, answer) in asked.iter().zip(&said).take(hidden.len()) {
        assert_eq!(
            (&answer["type"], &answer["code"]),
            (&json!("EgressRefused"), &json!("simulated")),
            "{request}: {answer}"
        );
    }
    let why = said[0]["message"].as_str().expect("a message");
    assert!(why.contains("x-http-method-override may not ask the server for another method than GET"), "{why}");
    assert!(said[hidden.len()..].iter().all(|answer| answer["status"] == 200), "{:?}", &said[hidden.len()..]);
    let reached = site.requests();
    assert_eq!(reached.len(), harmless.len(), "{reached:?}");

    // A regular run may send such requests.
    let regular = tool.invoke(json!({"requests": [hidden[0], hidden[HEADERS.len()]]})).json();
    assert!(regular.as_array().expect("a list").iter().all(|answer| answer["status"] == 200), "{regular}");
    assert!(site.requests().contains(&"GET /echo?_method=DELETE".to_owned()), "{:?}", site.requests());
}

#[test]
fn a_mock_that_could_never_answer_refuses_the_publish() {
    let team = Team::new();
    let tool = team.tool("mocked").with_file("mocks/a.json", "[{\"request\": {\"method\": \"POST\"}}]").pushed();
    let detail = tool.publish(crate::harness::Bump::Minor).expect(400)["detail"].to_string();
    assert!(detail.contains("mocks/a.json") && detail.contains("mock 0: missing field"), "{detail}");
}
