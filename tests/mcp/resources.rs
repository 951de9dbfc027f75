//! Artifacts of the Library as resources of the protocol.

use std::thread::sleep;

use serde_json::{Value, json};

use super::client::{Gateway, message};
use super::prompts::{SETTLED, agent, data, refused, seen_by};
use super::sessions::Session;
use super::stream::Stream;
use crate::harness::Team;

/// Saves an artifact and returns its URI.
fn saved(agent: &Gateway<'_>, content_type: &str, content: &str) -> String {
    let artifact = json!({
        "title": "Sales", "artifact_type": "report", "content": content, "content_type": content_type, "summary": "Of May.",
    });
    let saved = data(agent, "artifact_save", artifact);
    format!("artifact://{}", saved["artifact_id"].as_str().expect("an id"))
}

fn read(agent: &Gateway<'_>, uri: &str) -> Value {
    agent.send("resources/read", json!({"uri": uri}))["result"].take()
}

fn uris(agent: &Gateway<'_>) -> Vec<Value> {
    let listed = agent.send("resources/list", json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap_or_else(|| panic!("{listed}"));
    resources.iter().map(|resource| resource["uri"].clone()).collect()
}

#[test]
fn a_client_lists_and_reads_the_artifacts_of_its_user() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let uri = saved(&agent, "text/markdown", "# Sälés");
    let listed = agent.send("resources/list", json!({}));
    assert_eq!(listed["result"]["cacheScope"], "private", "{listed}");
    let resource = json!({
        "uri": uri, "name": "Sales", "title": "Sales", "description": "Of May.", "mimeType": "text/markdown", "size": 9,
    });
    assert_eq!(listed["result"]["resources"], json!([resource]));
    let result = read(&agent, &uri);
    assert_eq!(result["contents"], json!([{"uri": uri, "mimeType": "text/markdown", "text": "# Sälés"}]));
    let run = result["_meta"]["dev.lathe/invocationId"].as_str().expect("an id");
    let record = team.get(&format!("/tool/invocation/{run}"));
    assert_eq!((&record["native_tool"], &record["origin"]), (&json!("artifact_get"), &json!("mcp")), "{record}");

    let pdf = saved(&agent, "application/pdf", "%PDF");
    let contents = json!([{"uri": pdf, "mimeType": "application/pdf", "blob": "JVBERg=="}]);
    assert_eq!(read(&agent, &pdf)["contents"], contents);
    assert_eq!(json!(uris(&agent)), json!([pdf, uri]), "newest first");
    let session = Session::begin(&agent);
    let result = message(&session.send("resources/read", json!({"uri": uri})))["result"].take();
    assert_eq!(result["contents"][0]["text"], "# Sälés", "{result}");
}

#[test]
fn an_unknown_resource_has_the_error_of_the_protocol_version() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let session = Session::begin(&agent);
    for uri in ["artifact://6b087fb88c8b71fedaf8732b", "artifact://x", "file:///etc/passwd"] {
        let params = json!({"uri": uri});
        assert_eq!(refused(&agent, "resources/read", params.clone(), -32602), "Resource not found");
        let error = message(&session.send("resources/read", params))["error"].take();
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)), "{error}");
    }
}

#[test]
fn an_artifact_is_a_resource_of_those_with_whom_it_is_shared() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let bea = team.joined_by("bea", "admin");
    let of_bea = seen_by(&bea, &agent);
    let uri = saved(&agent, "text/plain", "x");
    assert!(uris(&of_bea).is_empty());
    refused(&of_bea, "resources/read", json!({"uri": uri}), -32602);
    let id = uri.trim_start_matches("artifact://");
    data(&agent, "artifact_share", json!({"artifact_id": id, "user_id": "bea"}));
    assert_eq!(json!(uris(&of_bea)), json!([uri]));
    assert_eq!(read(&of_bea, &uri)["contents"][0]["text"], "x");
}

#[test]
fn the_template_has_ids_of_artifacts() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let listed = agent.send("resources/templates/list", json!({}));
    let templates = &listed["result"]["resourceTemplates"];
    assert_eq!((&templates[0]["uriTemplate"], &templates[1]), (&json!("artifact://{id}"), &Value::Null), "{listed}");
    refused(&agent, "resources/templates/list", json!({"cursor": "1"}), -32602);
    let uri = saved(&agent, "text/plain", "x");
    let id = uri.trim_start_matches("artifact://");
    let params = |template: &str, value: &str| {
        let reference = json!({"type": "ref/resource", "uri": template});
        json!({"ref": reference, "argument": {"name": "id", "value": value}})
    };
    for (value, expected) in [("", json!([id])), (&id[..4], json!([id])), ("x", json!([]))] {
        let completed = agent.send("completion/complete", params("artifact://{id}", value));
        assert_eq!(completed["result"]["completion"]["values"], expected, "{value}: {completed}");
    }
    refused(&agent, "completion/complete", params("file:///{id}", ""), -32602);
}

#[test]
fn a_subscription_learns_of_new_and_deleted_artifacts() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let params = json!({"notifications": {"resourcesListChanged": true}});
    let mut stream = Stream::open(&agent, "subscriptions/listen", params);
    stream.until("notifications/subscriptions/acknowledged");
    sleep(SETTLED);
    let uri = saved(&agent, "text/plain", "x");
    stream.until("notifications/resources/list_changed");
    delete(&agent, &uri);
    stream.until("notifications/resources/list_changed");
}

fn delete(agent: &Gateway<'_>, uri: &str) {
    data(agent, "artifact_delete", json!({"artifact_id": uri.trim_start_matches("artifact://")}));
}

/// Also of an artifact that the whole organisation reads, but not of one that is another user's.
#[test]
fn a_client_watches_artifacts_that_its_user_can_read() {
    let team = Team::new();
    let agent = agent(&team, "desk");
    let of_bea = team.joined_by("bea", "admin");
    let of_bea = seen_by(&of_bea, &agent);
    let save = |visibility: &str| {
        let mut artifact =
            json!({"title": "Sales", "artifact_type": "report", "content": "x", "content_type": "text/plain"});
        artifact[visibility] = json!(true);
        let saved = data(&agent, "artifact_save", artifact);
        format!("artifact://{}", saved["artifact_id"].as_str().expect("an id"))
    };
    for visibility in ["shared_to_org", "is_public"] {
        let (private, open) = (saved(&agent, "text/plain", "x"), save(visibility));
        let params = json!({"notifications": {"resourceSubscriptions": [private, open]}});
        let mut stream = Stream::open(&of_bea, "subscriptions/listen", params);
        stream.until("notifications/subscriptions/acknowledged");
        sleep(SETTLED);
        let session = Session::begin(&of_bea);
        let subscribe = |uri: &str| message(&session.send("resources/subscribe", json!({"uri": uri})));
        assert_eq!(subscribe(&private)["error"]["code"], -32002, "{visibility}");
        assert_eq!(subscribe(&open)["result"], json!({}), "{visibility}");
        delete(&agent, &private);
        delete(&agent, &open);
        let told = stream.message(|message| message["method"] == "notifications/resources/updated");
        assert_eq!(told["params"]["uri"], open, "{visibility}: {told}");
    }
}
