//! Confirmations that agents ask for, besides what their tools declare.

use serde_json::{Value, json};

use crate::agent_runs::runs::Runs;
use crate::apis::orders;
use crate::harness::{Answer, Reply, Team};
use crate::mcp::client::Gateway;
use crate::turns::talk::{Agent, id, spec};

/// Calls a tool as a client that shows forms.
fn called(gateway: &Gateway, tool: &str, arguments: &Value, more: &Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let mut params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    params.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
    gateway.send("tools/call", params)["result"].take()
}

/// Answers the question for a confirmation.
fn answered(gateway: &Gateway, tool: &str, arguments: &Value, confirmed: bool) -> Value {
    let asked = called(gateway, tool, arguments, &json!({}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let answer = json!({"lathe/confirmation": {"action": "accept", "content": {"confirmed": confirmed}}});
    called(gateway, tool, arguments, &json!({"requestState": asked["requestState"], "inputResponses": answer}))
}

/// The step at which a call without forms is refused. Null for a call that runs.
fn refused_at(gateway: &Gateway, tool: &str, arguments: Value) -> Value {
    gateway.call(tool, arguments)["_meta"].pointer("/dev.lathe~1error/refused_at").cloned().unwrap_or_default()
}

fn assigned(team: &Team, slug: &str, tool: &str, policy: &str) {
    let lathe = team.lathe();
    lathe.ok(&["agent", "assign", slug, tool, "--human-intervention", policy]);
    lathe.ok(&["agent", "deploy", slug]);
}

#[test]
fn s4_033_an_assignment_makes_the_confirmation_stricter() {
    let team = Team::new();
    let pay = team.tool("pay").body("return 'paid'").published();
    let _fire = team.tool("fire").manifest("intervention = 'always'").body("return 'fired'").published();
    let gateway = Gateway::new(&team, "shop", &["pay"]);
    assert_eq!(refused_at(&gateway, "pay", json!({})), Value::Null);
    assigned(&team, "shop", "pay", "required");
    assert_eq!(refused_at(&gateway, "pay", json!({})), "intervene");
    assert_eq!(pay.invoke(json!({})).output(), "paid", "no agent calls");
    assert_eq!(answered(&gateway, "pay", &json!({}), true)["content"][0]["text"], "paid");
    let declined = answered(&gateway, "pay", &json!({}), false);
    assert_eq!(declined["_meta"]["dev.lathe/error"]["type"], "confirmation_refused", "{declined}");
    assigned(&team, "shop", "fire", "never");
    assert_eq!(refused_at(&gateway, "fire", json!({})), "intervene", "an agent makes nothing weaker");
    assigned(
        &team,
        "shop",
        "pay",
        r#"{"rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "required"}]}"#,
    );
    assert_eq!(refused_at(&gateway, "pay", json!({"amount": 99})), Value::Null);
    assert_eq!(refused_at(&gateway, "pay", json!({"amount": 100})), "intervene");
}

#[test]
fn another_version_of_a_tool_keeps_its_confirmation() {
    let team = Team::new();
    let _pay = team.tool("pay").body("return 'paid'").published();
    let gateway = Gateway::new(&team, "shop", &["pay"]);
    assigned(&team, "shop", "pay", "required");
    team.lathe().ok(&["agent", "assign", "shop", "pay", ">=1"]);
    team.lathe().ok(&["agent", "deploy", "shop"]);
    assert_eq!(refused_at(&gateway, "pay", json!({})), "intervene");
}

#[test]
fn a_deployment_warns_of_rules_about_unknown_arguments() {
    let team = Team::new();
    let code = "import dataclasses\n\n@dataclasses.dataclass\nclass Payment:\n    amount: int\n\n\n\
                async def run_tool(tool_input: Payment, metadata, config, conversation, send_status_event, user_variables):\n    \
                return 'paid'\n";
    let _pay = team.tool("pay").with_file("tool.py", code).published();
    let _gateway = Gateway::new(&team, "shop", &["pay"]);
    let deployed = |argument: &str| {
        let rule = json!({"rules": [{"when": {argument: {"minimum": 100}}, "intervention": "required"}]}).to_string();
        team.lathe().ok(&["agent", "assign", "shop", "pay", "--human-intervention", &rule]);
        let deployed = team.lathe().ok(&["agent", "deploy", "shop", "--json"]);
        serde_json::from_str::<Value>(&deployed).expect("JSON")["warnings"].clone()
    };
    let warning = "humanIntervention of pay names the argument ammount, which does not exist";
    assert_eq!(deployed("ammount"), json!([warning]));
    assert_eq!(deployed("amount"), json!([]));
}

#[test]
fn s4_034_an_agent_asks_for_the_confirmation_of_one_api() {
    let team = Team::new();
    orders(&team).published();
    let gateway = Gateway::new(&team, "shop", &["orders"]);
    assigned(&team, "shop", "orders", r#"{"apis": {"create": "required"}}"#);
    assert_eq!(refused_at(&gateway, "orders_create", json!({"item": "pen"})), "intervene");
    assert_eq!(refused_at(&gateway, "orders_list", json!({})), Value::Null);
    let shown = team.lathe().ok(&["agent", "show", "shop"]);
    assert!(shown.contains("never, create required"), "{shown}");
    let lathe = team.lathe();
    lathe.ok(&["agent", "assign", "shop", "orders", "--human-intervention", r#"{"apis": {"creat": "required"}}"#]);
    let warned = lathe.run(&["agent", "deploy", "shop"]);
    assert!(warned.stderr.contains("humanIntervention of orders names the API creat"), "{}", warned.stderr);
}

#[test]
fn an_agent_asks_for_the_confirmation_of_a_tool_of_the_server() {
    let team = Team::new();
    let gateway = Gateway::of_type(&team, "keeper", "agent").with(&[]);
    let lathe = team.lathe();
    let edit = |options: &[&str]| lathe.ok(&[&["agent", "edit", "keeper"], options].concat());
    edit(&["--human-intervention", "memory_create=required", "--human-intervention", "memory_forget=always"]);
    edit(&["--families", "memory"]);
    let warned = lathe.run(&["agent", "deploy", "keeper"]);
    assert!(warned.stderr.contains("names memory_forget, which is no tool of agents"), "{}", warned.stderr);
    let note = json!({"content": "Ann prefers e-mail."});
    assert_eq!(refused_at(&gateway, "memory_create", note.clone()), "intervene");
    assert_eq!(refused_at(&gateway, "memory_list", json!({})), Value::Null);
    let made = answered(&gateway, "memory_create", &note, true);
    assert_eq!(made["structuredContent"]["success"], true, "{made}");
    let declined = answered(&gateway, "memory_create", &note, false);
    assert_eq!(declined["structuredContent"]["error"]["code"], "confirmation_refused", "{declined}");
    edit(&["--human-intervention", "memory_create=never"]);
    let draft = lathe.json(&["agent", "show", "keeper"])["draft"]["builtInTools"].take();
    let expected =
        json!({"disabled": [], "allowedFamilies": ["memory"], "humanIntervention": {"memory_forget": "always"}});
    assert_eq!(draft, expected, "the families stay");
}

#[test]
fn a_specification_of_a_state_asks_for_a_confirmation() {
    let team = Team::new();
    let pay = team.tool("pay").body("return 'paid'").published();
    let mut asking = spec(pay.id());
    asking["humanIntervention"] = json!("required");
    let state = |spec: Value| json!({"name": "ask", "type": "decision", "tool_call_specs": [spec]});
    let agent = Agent::new(&team, "support").with(&[state(asking)]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    assert_eq!(turn["tools"][0]["humanIntervention"], "required", "{turn}");
    let refused: Answer = talk.call(&turn, "pay", json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (403, "confirmation_missing"), "{refused}");
    let by_mcp = agent.call(&turn, "pay", json!({}))["result"].take();
    assert_eq!(by_mcp["_meta"]["dev.lathe/error"]["type"], "confirmation_missing", "{by_mcp}");
    agent.deploy(&[state(spec(pay.id()))]);
    assert_eq!(talk.run(&talk.turn("ask"), "pay", json!({})).output(), "paid");
    assert_eq!(talk.call(&turn, "pay", json!({})).status, 403, "the turn keeps what it presented: {}", id(&turn));
}

/// A run cannot make the confirmation of its agent weaker.
#[test]
fn a_run_waits_for_the_confirmation_that_its_agent_asks_for() {
    let runs = Runs::shared();
    let agent = Gateway::of_type(&runs.team, "secretary", "agent");
    let asked = json!({"humanIntervention": {"rule_create": "required"}});
    runs.team.post(&format!("/agent/{}", agent.id), &json!({"builtInTools": asked})).expect(204);
    let _agent = agent.with(&[]);
    let rule = json!({"description": "Tone", "content": "Be brief.", "category": "must", "severity": "low"});
    let replies = || vec![Reply::call("rule_create", rule.clone()), Reply::complete("done")];
    let body = |objective: &str, autonomous: bool| {
        json!({
            "agent": "secretary", "objective": objective, "tools": ["rule_create", "__complete__"], "autonomous": autonomous,
            "builtInTools": {"allowedFamilies": ["rules"], "humanIntervention": {"rule_create": "never"}},
        })
    };
    let paused = runs.execute_with(body("a rule to confirm", false), replies());
    let request = paused["human_request_id"].as_str().unwrap_or_else(|| panic!("{paused}")).to_owned();
    let shown = runs.team.get(&format!("/human_request/{request}"));
    assert_eq!((&shown["kind"], &shown["tool"]), (&json!("approval"), &json!("rule_create")), "{shown}");
    let answer = runs.team.post(&format!("/human_request/{request}/answer"), &json!({"approved": true}));
    assert_eq!(answer.expect(200)["status"], "completed");
    let told: Value = serde_json::from_str(&runs.last_observation("a rule to confirm")).expect("an object");
    assert_eq!(told["success"], true, "{told}");
    let alone = runs.execute_with(body("a rule that nobody confirms", true), replies());
    assert_eq!(alone["status"], "completed", "{alone}");
    let told: Value = serde_json::from_str(&runs.last_observation("a rule that nobody confirms")).expect("an object");
    assert_eq!(told["error"]["code"], "confirmation_missing", "{told}");
}
