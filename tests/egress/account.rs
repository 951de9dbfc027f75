//! The requests of a run in its ledger.

use serde_json::json;

use super::{asking, authority, ran, reaching};
use crate::harness::{Options, Site, Team};

#[test]
fn every_request_is_in_the_ledger() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let host = authority(&site);
    let tool = asking(&team, &[&host]);
    let run = ran(
        &tool,
        &json!([
            {"url": site.url("/bytes/10"), "body": "four"},
            {"url": site.url("/status/404")},
            {"url": "https://api.example.com/"},
            {"url": site.url("/garbage")},
        ]),
    );
    let ledger = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"].clone();
    let expected = [
        json!({"method": "POST", "host": host, "status": 200, "error": null}),
        json!({"method": "GET", "host": host, "status": 404, "error": null}),
        json!({"method": "GET", "host": "api.example.com", "status": null, "error": "denied", "sent_bytes": 0,
            "received_bytes": 0}),
        json!({"method": "GET", "host": host, "status": null, "error": "protocol", "received_bytes": 19}),
    ];
    let http = ledger["used"]["http"].as_array().expect("a list");
    assert_eq!(http.len(), expected.len(), "{ledger}");
    for (found, expected) in http.iter().zip(&expected) {
        for (name, value) in expected.as_object().expect("an object") {
            assert_eq!(found[name], *value, "{name} of {found}");
        }
    }
    // Bytes on the network, heads included.
    for request in [0, 1, 3] {
        let bytes = |name: &str| http[request][name].as_u64().expect("a number");
        assert!((50..500).contains(&bytes("sent_bytes")) && bytes("received_bytes") < 500, "{ledger}");
    }
    assert!(http[0]["received_bytes"].as_u64() > http[1]["received_bytes"].as_u64(), "{ledger}");
    assert_eq!(ledger["refused"]["http_requests"], 1);
    for (query, count) in [
        (vec![("host", host.as_str())], 1),
        (vec![("host", "api.example.com")], 0),
        (vec![("refusal", "denied"), ("host", host.as_str())], 1),
        (vec![("refusal", "denied"), ("refusal", "simulated")], 1),
        (vec![("refusal", "simulated")], 0),
        (vec![("secret", "KEY"), ("host", host.as_str())], 0),
    ] {
        let found = team.request("GET", "/tool/invocation/").query(&query).send().expect(200);
        assert_eq!(found["tool_invocations"].as_array().map(Vec::len), Some(count), "{query:?}: {found}");
    }
    let listed = team.lathe().ok(&["history", "list", "--host", &host, "--refused", "denied"]);
    assert!(listed.contains(run.id()), "{listed}");
    assert!(!team.lathe().ok(&["history", "list", "--secret", "KEY"]).contains(run.id()));
    let shown = team.lathe().ok(&["history", "show", run.id()]);
    for part in [&format!("http      POST {host} 200, "), "GET api.example.com denied"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}
