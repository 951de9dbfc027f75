//! `tools/call`: a run through the same steps as every other call, in the same history.

use serde_json::{Value, json};

use super::client::{Gateway, message, messages, of_text};
use crate::harness::Team;

fn history(team: &Team, query: &str) -> Vec<Value> {
    let listed = team.get(&format!("/tool/invocation?{query}"));
    listed["tool_invocations"].as_array().unwrap_or_else(|| panic!("{listed}")).clone()
}

#[test]
fn a_call_is_a_run_in_the_history() {
    let team = Team::new();
    let tool = of_text(team.tool("shout")).body("return {'loud': tool_input['text'].upper()}").published();
    let gateway = Gateway::new(&team, "tools", &["shout"]);
    let result = gateway.call("shout", json!({"text": "hi"}));
    assert_eq!(result["structuredContent"], json!({"loud": "HI"}), "{result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"], "the same as text");
    assert!(result["isError"].is_null() || result["isError"] == false, "{result}");
    let run = result["_meta"]["dev.lathe/invocationId"].as_str().unwrap();
    let record = team.get(&format!("/tool/invocation/{run}"));
    assert_eq!(record["tool_id"], *tool.id(), "{record}");
    assert_eq!(record["origin"], "mcp", "{record}");
    let called = &record["agent_call"];
    assert_eq!((&called["agent_id"], &called["revision"]), (&json!(gateway.id), &json!(1)), "{record}");
    assert_eq!(called["client"], "test-client 1.0");
    assert_eq!(history(&team, &format!("agent_id={}&origin=mcp", gateway.id)).len(), 1);
}

#[test]
fn bad_arguments_are_a_failure_with_the_path_and_a_record() {
    let team = Team::new();
    of_text(team.tool("shout")).body("return tool_input['text'].upper()").published();
    let gateway = Gateway::new(&team, "tools", &["shout"]);
    let result = gateway.call("shout", json!({"text": 5}));
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("input_schema: /text: "), "{text}");
    assert_eq!(result["_meta"]["dev.lathe/error"]["refused_at"], "validate", "{result}");
    let refused = history(&team, &format!("agent_id={}&refused_at=validate", gateway.id));
    assert_eq!(refused.len(), 1, "{refused:?}");
}

#[test]
fn a_failure_of_the_tool_is_an_error_result() {
    let team = Team::new();
    team.tool("fail").body("raise ValueError('no rate today')").published();
    let gateway = Gateway::new(&team, "tools", &["fail"]);
    let result = gateway.call("fail", json!({}));
    assert_eq!(
        (&result["isError"], &result["content"][0]["text"]),
        (&json!(true), &json!("ValueError: no rate today"))
    );
}

#[test]
fn a_cycle_of_calls_ends_as_over_http() {
    let team = Team::new();
    team.tool("quick").published();
    let gateway = Gateway::new(&team, "tools", &["quick"]);
    let call = |depth: &str| {
        let request = gateway.request("POST").header("lathe-depth", depth);
        let request = gateway.modern(request, "tools/call", json!({"name": "quick", "arguments": {}}));
        message(&request.send_message())["result"].take()
    };
    assert_ne!(call("3")["isError"], true);
    let refused = call("4");
    let error = &refused["_meta"]["dev.lathe/error"];
    assert_eq!((&error["type"], &error["refused_at"]), (&json!("loop_detected"), &json!("policy")), "{refused}");
    assert_eq!(refused["isError"], true, "{refused}");
}

#[test]
fn an_empty_output_has_a_text() {
    let team = Team::new();
    team.tool("nothing").body("return ''").published();
    let gateway = Gateway::new(&team, "tools", &["nothing"]);
    assert_eq!(gateway.call("nothing", json!({}))["content"][0]["text"], "(empty)");
}

#[test]
fn a_native_and_a_published_tool_take_the_same_path() {
    let team = Team::new();
    let tool = team.tool("shout").body("return 'HI'").published();
    let gateway = Gateway::new(&team, "tools", &["shout"]);
    let result = gateway.call("lathe__whoami", json!({}));
    let identity = &result["structuredContent"];
    assert_eq!((&identity["user_id"], &identity["agent_id"]), (&json!(team.user), &json!(gateway.id)), "{result}");
    assert_eq!(gateway.call("shout", json!({}))["content"][0]["text"], "HI");
    let runs = history(&team, &format!("agent_id={}", gateway.id));
    let tools: Vec<_> = runs.iter().map(|run| (&run["tool_id"], &run["native_tool"])).collect();
    assert_eq!(
        tools,
        [(&json!(tool.id()), &Value::Null), (&json!("0".repeat(24)), &json!("lathe__whoami"))],
        "newest first"
    );
    assert_eq!(history(&team, "native_tool=lathe__whoami").len(), 1);
    let refused = gateway.call("lathe__whoami", json!({"more": 1}));
    assert_eq!(refused["_meta"]["dev.lathe/error"]["refused_at"], "validate", "{refused}");
}

#[test]
fn a_client_can_pin_the_component() {
    let team = Team::new();
    team.tool("shout").body("return 'HI'").published();
    let gateway = Gateway::new(&team, "tools", &["shout"]);
    let tools = gateway.send("tools/list", json!({}));
    let present = tools["result"]["tools"][1]["_meta"]["dev.lathe/component"].as_str().unwrap().to_owned();
    let call = |pinned: &str| {
        let params = json!({"name": "shout", "arguments": {}, "_meta": {"dev.lathe/component": pinned}});
        gateway.send("tools/call", params)["result"].take()
    };
    assert_eq!(call(&present)["content"][0]["text"], "HI");
    let other = format!("sha256:{}", "0".repeat(64));
    let refused = call(&other);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && text.contains(&present) && text.contains(&other), "{refused}");
}

#[test]
fn status_events_are_progress_that_increases() {
    let team = Team::new();
    let body =
        "for step in [10, 10, 30]:\n    await send_status_event(f'at {step}', progress=step, total=30)\nreturn 'done'";
    team.tool("work").body(body).published();
    let gateway = Gateway::new(&team, "tools", &["work"]);
    let params = json!({"name": "work", "arguments": {}, "_meta": {"progressToken": "p1"}});
    let answer = gateway.modern(gateway.request("POST"), "tools/call", params).send_message();
    let sent = messages(&answer);
    let (last, progress) = sent.split_last().unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "done", "{last}");
    assert_eq!(progress.len(), 3, "{sent:?}");
    let mut before = f64::NEG_INFINITY;
    for notification in progress {
        assert_eq!(notification["method"], "notifications/progress", "{notification}");
        let params = &notification["params"];
        assert_eq!((&params["progressToken"], &params["total"]), (&json!("p1"), &json!(30.0)), "{params}");
        let now = params["progress"].as_f64().unwrap();
        assert!(now > before, "{now} after {before}");
        before = now;
    }
}

#[test]
fn a_tool_that_a_person_confirms_is_not_run_for_an_agent() {
    let team = Team::new();
    let tool = team.tool("pay").manifest("intervention = 'required'").body("return 'paid'").published();
    let gateway = Gateway::new(&team, "tools", &["pay"]);
    let refused = gateway.call("pay", json!({}));
    assert_eq!(refused["_meta"]["dev.lathe/error"]["refused_at"], "intervene", "{refused}");
    assert_eq!(tool.invoke(json!({})).output(), "paid");
    let always = team.tool("fire").manifest("intervention = 'always'").body("return 'fired'").published();
    let body = json!({"inputs": [crate::harness::input(&json!({}))]});
    let direct = always.invoke_request(&body).send();
    assert_eq!((direct.status, direct.code().as_str()), (403, "confirmation_missing"), "{direct}");
}

#[test]
fn a_person_confirms_the_calls_for_which_a_rule_holds() {
    let team = Team::new();
    let rules = "intervention_rules = [{ when = { amount = { minimum = 100 } }, intervention = 'required' },
        { when = { amount = { minimum = 1000 }, to = { pattern = '^all' } }, intervention = 'always' }]";
    let tool = team.tool("pay").manifest(rules).body("return 'paid'").published();
    let gateway = Gateway::new(&team, "tools", &["pay"]);
    let refused_at = |arguments: Value| {
        gateway.call("pay", arguments)["_meta"].pointer("/dev.lathe~1error/refused_at").cloned().unwrap_or_default()
    };
    assert_eq!(refused_at(json!({"amount": 99})), Value::Null);
    assert_eq!(refused_at(json!({"amount": 100})), "intervene");
    assert_eq!(refused_at(json!({"amount": "100"})), "intervene", "a minimum is one of numbers, and refuses no text");
    assert_eq!(tool.invoke(json!({"amount": 1000, "to": "ann"})).output(), "paid", "a person called");
    let several = json!({"inputs": [
        crate::harness::input(&json!({"amount": 1})), crate::harness::input(&json!({"amount": 1000, "to": "all"})),
    ]});
    let direct = tool.invoke_request(&several).send();
    assert_eq!((direct.status, direct.code().as_str()), (403, "confirmation_missing"), "{direct}");
}
