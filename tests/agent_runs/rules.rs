//! The rules of the Library that the server enforces.

use serde_json::{Value, json};

use super::runs::{AGENT, Runs, TOOL, agent, options};
use crate::harness::{ModelEndpoint, Reply, Server, Team, input};
use crate::mcp::client::Gateway;

/// A server of its own: rules count for all runs of their user.
fn runs() -> Runs {
    let model = ModelEndpoint::serve();
    let team = Team::on(&Server::private(&options(&model)));
    agent(&team);
    Runs { team, model }
}

impl Runs {
    /// Writes a rule as the user does, and returns its id.
    fn rule(&self, fields: Value) -> String {
        let mut rule = json!({"description": "No gossip", "content": "Look nobody up.", "category": "must-not", "severity": "high"});
        rule.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
        let created = self.post("/api/v1/rules", &rule).expect(201);
        created["data"]["rule_id"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned()
    }

    /// The instructions of the last request of a run to its model.
    fn instructions(&self, objective: &str) -> String {
        let request = self.model.received(objective).pop().expect("a request");
        request.body["messages"][0]["content"].as_str().unwrap_or_default().to_owned()
    }
}

#[test]
fn s0_144_a_gate_forbids_calls_of_agents() {
    let runs = runs();
    let gate = json!({"enforcement_mode": "gate", "triggers": {"tool_name": TOOL}});
    let rule = runs.rule(gate);
    let call = |what: &str| Reply::call(TOOL, json!({"what": what}));
    let objective = "look up the neighbour";
    let done = Reply::complete("nothing");
    let run = runs.execute(objective, &[TOOL, "__complete__"], vec![call("a neighbour"), done]);
    assert_eq!(run["status"], "completed", "{run}");
    let trace = runs.trace(&run);
    let refused = trace[0]["observation"].as_str().expect("a text");
    assert!(
        refused.starts_with("rule_forbids: ") && refused.contains(&rule) && !refused.contains("gossip"),
        "{refused}"
    );
    assert_eq!(trace[0]["success"], false, "{trace:?}");

    let gateway = Gateway { team: &runs.team, slug: AGENT.to_owned(), id: String::new() };
    let result = gateway.call(TOOL, json!({"what": "my neighbour"}));
    assert_eq!(result["_meta"]["dev.lathe/error"]["refused_at"], "policy", "{result}");
    for (tool, arguments) in
        [("rule_update", json!({"rule_id": rule, "enabled": false})), ("rule_delete", json!({"rule_id": rule}))]
    {
        let refused = gateway.call(tool, arguments);
        assert_eq!(refused["structuredContent"]["error"]["status"], 403, "{refused}");
    }
    let workflow = runs.team.server.request("PATCH", &format!("/api/v1/rules/{rule}")).bearer(&runs.team.token);
    workflow.header("x-agent-workflow-id", "nightly").json(&json!({"enabled": false})).send().expect(403);
    let of_model = json!({
        "description": "x", "content": "x", "category": "must-not", "severity": "low", "enforcement_mode": "gate",
        "triggers": {"tool_name": "other"},
    });
    let of_model = gateway.call("rule_create", of_model)["structuredContent"]["data"]["rule_id"].take();
    assert_eq!(gateway.call("rule_delete", json!({"rule_id": of_model}))["isError"], false, "it binds nobody");
    let tools = runs.team.get("/tool/");
    let id =
        tools["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == TOOL).expect("the tool")["id"]
            .clone();
    let path = format!("/tool/{}/version/%3E%3D0/invoke", id.as_str().expect("an id"));
    let body = json!({"inputs": [input(&json!({"what": "my neighbour"}))]});
    let results = runs.team.request("POST", &path).json(&body).send().expect(200);
    let status = &results["invocation_results"][0];
    assert_eq!(status["succeeded"], true, "without an agent, the user decides: {results}");

    let off = runs.team.server.request("PATCH", &format!("/api/v1/rules/{rule}")).bearer(&runs.team.token);
    off.json(&json!({"enabled": false})).send().expect(200);
    assert_eq!(gateway.call(TOOL, json!({"what": "my neighbour"}))["isError"], false);
}

#[test]
fn s0_144_a_run_is_told_the_rules_of_its_user() {
    let runs = runs();
    runs.rule(json!({"content": "Be brief.", "category": "must"}));
    runs.rule(json!({"content": "Ask first.", "category": "should", "severity": "critical"}));
    runs.rule(json!({"content": "Stay polite.", "category": "must", "severity": "low", "level": "org"}));
    runs.rule(json!({"content": "Only for invoices.", "triggers": {"keywords": ["invoice"]}}));
    runs.rule(json!({"content": "Switched off.", "enabled": false}));
    let gateway = Gateway { team: &runs.team, slug: AGENT.to_owned(), id: String::new() };
    let of_model = json!({"description": "x", "content": "Of a model.", "category": "must", "severity": "critical"});
    assert_eq!(gateway.call("rule_create", of_model)["isError"], false);
    let done = || vec![Reply::complete("done")];
    runs.execute("say hello", &["__complete__"], done());
    let told = "Rules of the user. They come before other instructions:\n\
        - (must) Stay polite.\n- (should) Ask first.\n- (must) Be brief.";
    let instructions = runs.instructions("say hello");
    assert!(instructions.ends_with(told), "{instructions}");
    runs.execute("check the Invoice", &["__complete__"], done());
    let instructions = runs.instructions("check the Invoice");
    assert!(instructions.contains("- (must-not) Only for invoices."), "{instructions}");
}
