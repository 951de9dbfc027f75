//! Questions of tools to the clients of sessions, which answer while their call waits.

use serde_json::{Value, json};

use super::client::{Gateway, message};
use super::questions::{asking, greeter};
use super::sessions::Session;
use super::stream::Stream;
use crate::harness::Team;

/// Calls a tool, answers its questions, and returns the result of the call.
fn called(session: &Session<'_>, tool: &str, answers: &[(&str, Value)]) -> Value {
    let mut stream = Stream::open_of(session, "tools/call", &json!({"name": tool, "arguments": {}}));
    for (method, result) in answers {
        let asked = stream.message(|message| message["method"] == *method);
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        assert_eq!(session.request("POST").json(&body).send_message().status, 202);
    }
    stream.message(|message| message["result"].is_object())["result"].take()
}

#[test]
fn a_session_answers_while_the_call_waits() {
    let team = Team::new();
    greeter(&team);
    let body = "poem = await request_input('poem', Sampling('A poem', 10))\n\
        roots = await request_input('roots', Roots())\nreturn f'{poem.text} {roots[0].uri}'";
    asking(&team, "poet", body).published();
    let gateway = Gateway::new(&team, "tools", &["greet", "poet"]);
    let session = Session::begin_with(&gateway, json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    let result = called(&session, "greet", &[("elicitation/create", accepted)]);
    assert_eq!(result["content"][0]["text"], "accept Ada", "{result}");
    let poem = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Roses"}});
    let roots = json!({"roots": [{"uri": "file:///a"}]});
    let result = called(&session, "poet", &[("sampling/createMessage", poem), ("roots/list", roots)]);
    assert_eq!(result["content"][0]["text"], "Roses file:///a", "{result}");
}

#[test]
fn a_session_confirms_a_call() {
    let team = Team::new();
    team.tool("pay").manifest("intervention = 'required'").body("return 'paid'").published();
    let gateway = Gateway::new(&team, "tools", &["pay"]);
    let session = Session::begin_with(&gateway, json!({"elicitation": {}}));
    let answer = |confirmed: bool| json!({"action": "accept", "content": {"confirmed": confirmed}});
    let paid = called(&session, "pay", &[("elicitation/create", answer(true))]);
    assert_eq!(paid["content"][0]["text"], "paid", "{paid}");
    let refused = called(&session, "pay", &[("elicitation/create", answer(false))]);
    assert_eq!(refused["_meta"]["dev.lathe/error"]["type"], "confirmation_refused", "{refused}");
}

#[test]
fn a_session_without_the_capability_is_not_asked() {
    let team = Team::new();
    greeter(&team);
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let session = Session::begin(&gateway);
    let result = message(&session.send("tools/call", json!({"name": "greet", "arguments": {}})))["result"].take();
    assert_eq!(
        (&result["isError"], &result["_meta"]["dev.lathe/error"]["type"]),
        (&json!(true), &json!("InputUnavailable"))
    );
}

#[test]
fn a_cancelled_call_waits_no_longer() {
    let team = Team::new();
    greeter(&team);
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let session = Session::begin_with(&gateway, json!({"elicitation": {}}));
    let mut stream = Stream::open_of(&session, "tools/call", &json!({"name": "greet", "arguments": {}}));
    let asked = stream.message(|message| message["method"] == "elicitation/create");
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": stream.request}});
    assert_eq!(session.request("POST").json(&cancel).send_message().status, 202);
    let decline = json!({"action": "decline"});
    let late = json!({"jsonrpc": "2.0", "id": asked["id"], "result": decline});
    assert_eq!(session.request("POST").json(&late).send_message().status, 202);
    called(&session, "greet", &[("elicitation/create", decline)]);
    let runs = team.get(&format!("/tool/invocation?agent_id={}", gateway.id));
    assert_eq!(runs["tool_invocations"].as_array().map(Vec::len), Some(3), "a late answer begins no run: {runs}");
}
