//! The families that an agent has.

use serde_json::{Value, json};

use super::agent::Agent;
use crate::harness::Team;
use crate::mcp::client::Gateway;

pub(super) const PREFIXES: [(&str, &str); 7] = [
    ("memory", "memory_"),
    ("rules", "rule_"),
    ("skills", "skill_"),
    ("tasks", "task_"),
    ("prompts", "prompt_"),
    ("artifacts", "artifact_"),
    ("preferences", "preference_"),
];

fn families(gateway: &Gateway) -> Vec<&'static str> {
    let names = gateway.names();
    let has = |prefix: &str| names.iter().any(|name| name.starts_with(prefix));
    PREFIXES.iter().filter(|(_, prefix)| has(prefix)).map(|(family, _)| *family).collect()
}

fn set(gateway: &Gateway, built_in_tools: Value) -> Value {
    gateway.team.post(&format!("/agent/{}", gateway.id), &json!({"builtInTools": built_in_tools})).expect(204);
    gateway.team.post(&format!("/agent/{}/deploy", gateway.id), &json!({})).expect(200)
}

#[test]
fn s0_001_an_agent_has_all_families() {
    let team = Team::new();
    assert_eq!(families(&Agent::of(&team, "all").0), PREFIXES.map(|(family, _)| family));
    assert!(families(&Gateway::new(&team, "gateway", &[])).is_empty(), "a gateway has what is assigned to it");
}

#[test]
fn s0_015_to_s0_025_families_can_be_left_out() {
    let team = Team::new();
    let Agent(gateway) = Agent::of(&team, "few");
    set(&gateway, json!({"disabled": ["artifacts"]}));
    assert_eq!(families(&gateway), ["memory", "rules", "skills", "tasks", "prompts", "preferences"]);
    let saved = gateway.send("tools/call", json!({"name": "artifact_list", "arguments": {}}));
    assert_eq!(saved["error"]["code"], -32602, "{saved}");
    set(&gateway, json!({"allowedFamilies": ["memory", "skills", "prompts"]}));
    assert_eq!(families(&gateway), ["memory", "skills", "prompts"]);
    set(&gateway, json!({"allowedFamilies": []}));
    assert!(families(&gateway).is_empty());
}

#[test]
fn s0_018_and_s0_019_unknown_families_are_warned_of() {
    let team = Team::new();
    let Agent(gateway) = Agent::of(&team, "odd");
    let deployed = set(&gateway, json!({"disabled": ["wishes"]}));
    assert_eq!(deployed["warnings"], json!(["builtInTools names the family wishes, which does not exist"]));
    assert_eq!(families(&gateway).len(), PREFIXES.len());
    let warned = team.lathe().run(&["agent", "deploy", "odd"]);
    assert!(warned.stderr.contains("wishes, which does not exist"), "{}", warned.stderr);
}

#[test]
fn s0_026_a_change_counts_from_the_next_deployment() {
    let team = Team::new();
    let Agent(gateway) = Agent::of(&team, "later");
    let path = format!("/agent/{}", gateway.id);
    team.post(&path, &json!({"builtInTools": {"disabled": ["memory"]}})).expect(204);
    assert!(families(&gateway).contains(&"memory"));
    let shown = team.get(&path);
    assert_eq!(shown["draft"]["builtInTools"], json!({"disabled": ["memory"], "allowedFamilies": null}));
    team.post(&format!("{path}/deploy"), &json!({})).expect(200);
    assert!(!families(&gateway).contains(&"memory"));
}

#[test]
fn s0_027_and_s0_028_the_definitions_are_those_of_functions() {
    let team = Team::new();
    let Agent(gateway) = Agent::of(&team, "shown");
    set(&gateway, json!({"allowedFamilies": ["memory"]}));
    let shown = team.get(&format!("/agent/{}/tools?format=openai", gateway.id));
    let tools = shown["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert!(names.contains(&"memory_create") && !names.iter().any(|name| name.starts_with("rule_")), "{names:?}");
    let create = tools.iter().find(|tool| tool["function"]["name"] == "memory_create").expect("the tool");
    assert_eq!(create["type"], "function");
    assert!(create["function"]["parameters"]["properties"]["content"].is_object(), "{create}");
}
