//! `Prefer: respond-async`: the client queries the operation for the result.

use serde_json::{Value, json};

use super::{call, ended};
use crate::harness::{Answer, Bump, Options, Server, Site, Team, Tool};

fn later(tool: &Tool<'_>, body: &Value) -> Answer {
    tool.invoke_request(body).header("prefer", "respond-async").send()
}

fn location(answer: &Answer) -> String {
    answer.expect(202);
    assert_eq!(answer.headers["preference-applied"], "respond-async");
    answer.headers["location"].to_str().expect("text").to_owned()
}

#[test]
fn a_call_is_answered_later() {
    let site = Site::serve();
    let team = Team::on(&Server::private(&Options::reaching_loopback()));
    let tool = team.tool("slow").held_by(&site).published();
    let accepted = later(&tool, &call(&site.hold()));
    let location = location(&accepted);
    let body = accepted.json();
    assert_eq!(location, format!("/v1/{}/operation/{}", team.organization, body["id"].as_str().expect("an id")));
    assert_eq!((&body["status"], &body["kind"]), (&json!("running"), &json!("invoke")));
    assert_eq!((&body["result"], &body["error"], &body["http_status"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!(body["finished_at"], Value::Null);
    site.held.open();
    let operation = ended(&team, &location);
    assert_eq!((&operation["status"], &operation["http_status"]), (&json!("succeeded"), &json!(200)));
    assert_eq!(operation["result"]["invocation_results"][0]["output"], "rested");
    assert!(operation["started_at"].as_str() < operation["finished_at"].as_str(), "{operation}");
    assert_eq!(operation["result"]["invocation_results"][0]["invocation_id"], team.history()[0]["id"]);
}

#[test]
fn a_publication_is_answered_later() {
    let team = Team::new();
    let tool = team.tool("made").pushed();
    let publish = |tool: &Tool<'_>| tool.publish_request(Bump::Minor).header("prefer", "wait=1, respond-async").send();
    let operation = ended(&team, &location(&publish(&tool)));
    assert_eq!((&operation["kind"], &operation["http_status"]), (&json!("publish"), &json!(201)));
    assert_eq!(operation["result"], json!({"new_version": "1.0.0"}));
    let tool = tool.body("return )").pushed();
    let operation = ended(&team, &location(&publish(&tool)));
    assert_eq!((&operation["status"], &operation["http_status"]), (&json!("failed"), &json!(400)));
    assert_eq!(operation["error"]["code"], "build_failed");
    let build = operation["error"]["build_id"].as_str().expect("the build is named");
    assert_eq!(team.get(&format!("/tool/{}/build/{build}", tool.id()))["state"], "failed");
}

#[test]
fn asynchronous_refusals_have_the_same_code() {
    let team = Team::new();
    let tool = team.tool("unmade");
    let operation = ended(&team, &location(&later(&tool, &call(&json!({})))));
    assert_eq!((&operation["status"], &operation["http_status"]), (&json!("failed"), &json!(404)));
    assert_eq!(operation["error"], json!({"detail": "Not found.", "code": "not_found"}));
    // Errors in the request itself are returned immediately.
    later(&tool, &json!({"inputs": []})).expect(422);
}

#[test]
fn a_key_and_a_later_answer_go_together() {
    let site = Site::serve();
    let team = Team::on(&Server::private(&Options::reaching_loopback()));
    let tool = team.tool("slow").held_by(&site).published();
    let body = call(&site.hold());
    let request = || tool.invoke_request(&body).header("idempotency-key", "k");
    let first = location(&request().header("prefer", "respond-async").send());
    assert_eq!(location(&request().header("prefer", "respond-async").send()), first, "while it runs");
    let busy = request().send();
    busy.expect(409);
    assert!(first.ends_with(busy.json()["operation_id"].as_str().expect("an id")), "{busy}");
    site.held.open();
    let operation = ended(&team, &first);
    assert_eq!(location(&request().header("prefer", "respond-async").send()), first, "and afterwards");
    assert_eq!(request().send().expect(200), operation["result"]);
    assert_eq!(team.history().len(), 1);
}

#[test]
fn an_operation_is_nothing_to_others() {
    let team = Team::new();
    let tool = team.tool("quick").published();
    let location = location(&later(&tool, &call(&json!({}))));
    ended(&team, &location);
    let stranger = Team::on(&team.server);
    let id = location.rsplit('/').next().expect("an id");
    let foreign = stranger.request("GET", &format!("/operation/{id}")).send();
    let unknown = stranger.request("GET", &format!("/operation/{}", "0".repeat(24))).send();
    foreign.expect(404);
    assert_eq!((foreign.body, foreign.headers.len()), (unknown.body, unknown.headers.len()));
    let theirs = stranger.server.request("GET", &location).bearer(&stranger.token).send();
    assert!(matches!(theirs.status, 401 | 404), "{theirs}");
    team.request("GET", "/operation/latest").send().expect(422);
    // A stream takes precedence, since `accept` is a requirement and `prefer` is not.
    let events = tool.invoke_request(&call(&json!({}))).header("prefer", "respond-async").events();
    assert_eq!(events.last().map(|event| event.name.as_str()), Some("done"));
}
