//! `Idempotency-Key`: the same request is carried out once and answered the same.

use std::sync::mpsc;

use serde_json::{Value, json};

use super::{begun, call, invoke_path};
use crate::harness::{
    Answer, Bump, Options, PATIENCE, PackageIndex, Server, Site, Team, Tool, eventually, failed_builds, input,
    lock_line, package_wheel,
};

/// Answers, fails, and returns text that is hard to store.
const BODY: &str = r#"
    if tool_input["say"] == "fail":
        raise ValueError("no \x00 é 😀")
    return tool_input["say"] + " \x00 é 😀"
"#;

fn keyed(tool: &Tool<'_>, key: &str, body: &Value) -> Answer {
    tool.invoke_request(body).header("idempotency-key", key).send()
}

#[test]
fn a_call_is_carried_out_once() {
    let team = Team::new();
    let tool = team.tool("says").body(BODY).published();
    let words = ["one", "fail", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let body = json!({"inputs": words.map(|word| input(&json!({"say": word}))), "result_persistence": "ephemeral"});
    let first = keyed(&tool, "k-1", &body);
    first.expect(200);
    assert!(!first.headers.contains_key("idempotency-replayed"));
    for _ in 0..2 {
        let again = keyed(&tool, "k-1", &body);
        assert_eq!((again.status, &again.body), (200, &first.body), "the same bytes");
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!(again.headers["content-type"], first.headers["content-type"]);
    }
    assert_eq!(team.history().len(), 10);
    assert_ne!(keyed(&tool, "k-2", &body).body, first.body, "another key is another call");
    tool.invoke(json!({"say": "no key"}));
    assert_eq!(team.history().len(), 21);
}

#[test]
fn an_idempotency_key_is_bound_to_one_request() {
    let team = Team::new();
    let tool = team.tool("says").body(BODY).published();
    let body = call(&json!({"say": "one"}));
    let first = keyed(&tool, "k", &body);
    first.expect(200);
    let other = keyed(&tool, "k", &call(&json!({"say": "two"})));
    other.expect(422);
    assert_eq!(other.json()["detail"][0]["type"], "idempotency_key_reused", "{other}");
    assert_eq!(other.json()["detail"][0]["loc"], json!(["header", "idempotency-key"]));
    let elsewhere = format!("/tool/{}/version/1.0.0/invoke", tool.id());
    team.request("POST", &elsewhere).header("idempotency-key", "k").json(&body).send().expect(422);
    assert_eq!(keyed(&tool, "k", &body).body, first.body);
    assert_eq!(team.history().len(), 1);
    for bad in ["", " ", "a b", "ä", &"k".repeat(256)] {
        let refused = tool.invoke_request(&body).header("idempotency-key", bad).send();
        refused.expect(422);
        assert!(refused.to_string().contains("1 to 255"), "{refused}");
    }
    keyed(&tool, &"k".repeat(255), &body).expect(200);
}

#[test]
fn concurrent_copies_of_a_request_run_once() {
    let site = Site::serve();
    let team = Team::on(&Server::private(&Options::reaching_loopback()));
    let tool = team.tool("slow").held_by(&site).published();
    let body = call(&site.hold());
    let (sender, answers) = mpsc::channel();
    let first = std::thread::scope(|scope| {
        for sender in [(); 10].map(|()| sender.clone()) {
            let (tool, body) = (&tool, &body);
            scope.spawn(move || sender.send(keyed(tool, "same", body)).expect("the test waits"));
        }
        for _ in 1..10 {
            let answer: Answer = answers.recv_timeout(PATIENCE).expect("an answer while the first copy runs");
            answer.expect(409);
            assert_eq!(answer.code(), "request_in_progress");
            assert_eq!(answer.headers["retry-after"], "1");
            assert!(answer.json()["operation_id"].is_string(), "{answer}");
        }
        site.held.is_reached_by(1);
        site.held.open();
        answers.recv_timeout(PATIENCE).expect("the answer of the first copy")
    });
    first.expect(200);
    assert_eq!(keyed(&tool, "same", &body).body, first.body);
    assert_eq!(team.history().len(), 1);
}

#[test]
fn a_refusal_that_did_nothing_leaves_its_key_free() {
    let team = Team::new();
    let source = "from typing import TypedDict\nclass Say(TypedDict):\n    say: str";
    let text = "async def run_tool(tool_input: Say, metadata, config, conversation, send_status_event, user_variables):\n    return tool_input['say']\n";
    let tool = team.tool("strict").with_file("tool.py", &format!("{source}\n\n{text}")).published();
    for _ in 0..2 {
        let refused = keyed(&tool, "k", &call(&json!({"say": 1})));
        refused.expect(400);
        assert_eq!(refused.code(), "input_schema");
    }
    keyed(&tool, "k", &call(&json!({"say": "mended"}))).expect(200);
    assert_eq!(team.history().len(), 1);
}

#[test]
fn a_version_is_published_once() {
    let team = Team::new();
    let tool = team.tool("once").pushed();
    let publish = |key: &str| tool.publish_request(Bump::Minor).header("idempotency-key", key).send();
    let first = publish("a");
    assert_eq!(first.expect(201), json!({"new_version": "1.0.0"}));
    for _ in 0..2 {
        assert_eq!((publish("a").status, publish("a").body), (201, first.body.clone()));
    }
    assert_eq!(tool.versions(), ["1.0.0"]);
    publish("b").expect(201);
    assert_eq!(tool.versions(), ["1.0.0", "1.1.0"], "another key means it");
    let other = tool.publish_request(Bump::Major).header("idempotency-key", "a").send();
    other.expect(422);
}

#[test]
fn a_build_that_failed_is_not_repeated_under_its_key() {
    let team = Team::new();
    let tool = team.tool("broken").body("return )").pushed();
    let publish = || tool.publish_request(Bump::Minor).header("idempotency-key", "k").send();
    let first = publish();
    first.expect(400);
    assert_eq!(publish().body, first.body, "the same bytes, and the same build_id");
    assert_eq!(failed_builds(team.server.data(), tool.id()).len(), 1);
    let tool = tool.renewed().pushed();
    tool.publish(Bump::Minor).expect(201);
}

#[test]
fn a_publication_whose_answer_was_lost_is_found_again_without_a_key() {
    let team = Team::new();
    let tool = team.tool("lost").published();
    let again = tool.publish(Bump::Minor);
    again.expect(409);
    assert_eq!((again.code().as_str(), &again.json()["version"]), ("already_published", &json!("1.0.0")));
    let version = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    assert_eq!(again.json()["version_id"], version["id"]);
    tool.publish(Bump::Patch).expect(201);
    tool.publish_request(Bump::Patch).header("idempotency-key", "meant").send().expect(201);
    assert_eq!(tool.versions(), ["1.0.0", "1.0.1", "1.0.2"]);
}

#[test]
fn a_client_that_lost_its_answer_gets_it_under_its_key() {
    let (site, wheel) = (Site::serve(), package_wheel("words", "1.0", &[("words.py", "")]));
    let index = PackageIndex::serve_held(&[("words", "words-1.0-py3-none-any.whl", &wheel)]);
    let options =
        Options { python_index: Some(index.url.clone()), has_own_cache: true, ..Options::reaching_loopback() };
    let team = Team::on(&Server::private(&options));
    let tool = team.tool("slow").with_file("requirements.lock", &lock_line("words", "1.0", &wheel));
    let tool = tool.held_by(&site).pushed();
    let body = json!({"project_path": tool.path(), "bump_type": "minor"});
    let path = format!("/tool/{}/version", tool.id());
    let publishing = begun(&team, &path, "idempotency-key: k\r\n", &body);
    index.held.is_reached_by(1);
    drop(publishing);
    index.held.open();
    let publish = || team.request("POST", &path).header("idempotency-key", "k").json(&body).send();
    let answer = eventually("the answer", || Some(publish()).filter(|answer| answer.status != 409));
    assert_eq!(answer.expect(201), json!({"new_version": "1.0.0"}));
    let running = begun(&team, &invoke_path(&tool), "idempotency-key: i\r\n", &call(&site.hold()));
    site.held.is_reached_by(1);
    drop(running);
    site.held.open();
    let invoke = || keyed(&tool, "i", &call(&site.hold()));
    let answer = eventually("the answer", || Some(invoke()).filter(|answer| answer.status != 409));
    assert_eq!(answer.expect(200)["invocation_results"][0]["output"], "rested");
    assert_eq!((tool.versions().len(), team.history().len()), (1, 1));
}

/// A stored result can be returned as a plain response or as a stream, whatever the first request asked for.
#[test]
fn an_answer_can_be_repeated_in_any_response_mode() {
    let team = Team::new();
    let tool = team.tool("says").body(BODY).published();
    let body = call(&json!({"say": "one"}));
    let request = || tool.invoke_request(&body).header("idempotency-key", "k");
    let streamed = request().events();
    let result = &streamed[streamed.len() - 2];
    assert_eq!((result.name.as_str(), &result.data), ("result", &request().send().expect(200)));
    let names: Vec<String> = request().events().into_iter().map(|event| event.name).collect();
    assert_eq!(names, ["result", "done"]);
    let later = request().header("prefer", "respond-async").send();
    assert_eq!(later.expect(202)["result"], result.data);
    assert_eq!(team.history().len(), 1);
}
