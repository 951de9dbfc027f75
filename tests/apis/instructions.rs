//! The instructions of a tool with APIs, for models.

use serde_json::{Value, json};

use super::{declared, orders};
use crate::agent_runs::runs::{AGENT, Runs, options};
use crate::harness::{ModelEndpoint, Reply, Server, Team};
use crate::mcp::client::Gateway;

const ROLE: &str = "Call orders_list before orders_create.";

/// Publishes a tool with instructions.
fn instructed(team: &Team) {
    let lathe = format!("[tool.lathe]\nsystem_role = '{ROLE}'\n");
    let project = "[project]\nname = 'orders'\n".to_owned() + &lathe + &declared("create", "") + &declared("list", "");
    orders(team).with_file("pyproject.toml", &project).published();
}

#[test]
fn s4_018_a_plugin_has_the_instructions_of_its_tool() {
    let team = Team::new();
    instructed(&team);
    let gateway = Gateway::new(&team, "shop", &["orders"]);
    let lobe = team.get(&format!("/agent/{}/tools?format=lobe", gateway.id))["tools"].take();
    let roles: Vec<_> = lobe.as_array().expect("plugins").iter().map(|plugin| &plugin["systemRole"]).collect();
    assert_eq!(roles, [&Value::Null, &json!(format!("## orders\n\n{ROLE}"))], "{lobe}");
    let discovered = gateway.send("server/discover", json!({}))["result"].take();
    let instructions = discovered["instructions"].as_str().unwrap_or_default();
    assert_eq!(instructions, format!("Tools of the team.\n\n## orders\n\n{ROLE}"), "{discovered}");
    let detail = team.lathe().json(&["tool", "show", "orders", "1.0.0"]);
    assert_eq!(detail["settings"]["system_role"], ROLE, "{detail}");
}

/// A model reads the instructions when the run has some of the APIs.
#[test]
fn s4_037_a_run_with_the_tool_has_its_instructions() {
    let model = ModelEndpoint::serve();
    let team = Team::on(&Server::private(&options(&model)));
    instructed(&team);
    Gateway::of_type(&team, AGENT, "agent").with(&["orders"]);
    let runs = Runs { team, model };
    let told = |objective: &str, tools: &[&str]| {
        let run = runs.execute(objective, tools, vec![Reply::complete("done")]);
        assert_eq!(run["status"], "completed", "{run}");
        runs.model.received(objective).pop().expect("a request").body["messages"][0]["content"].to_string()
    };
    assert_eq!(told("with orders", &["orders_list", "orders_create", "__complete__"]).matches(ROLE).count(), 1);
    assert!(!told("without orders", &["__complete__"]).contains(ROLE));
}
