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

/// The names of the tools of each family.
const TOOLS: [(&str, &[&str]); 7] = [
    ("memory", &["memory_create", "memory_delete", "memory_get", "memory_list", "memory_search", "memory_update"]),
    ("rules", &["rule_create", "rule_delete", "rule_get", "rule_list", "rule_update"]),
    ("skills", &["skill_create", "skill_delete", "skill_get", "skill_list", "skill_update"]),
    (
        "tasks",
        &[
            "task_complete",
            "task_create",
            "task_delete",
            "task_end_recurrence",
            "task_get",
            "task_list",
            "task_skip_next",
        ],
    ),
    ("prompts", &["prompt_create", "prompt_get", "prompt_list", "prompt_update"]),
    ("artifacts", &["artifact_delete", "artifact_get", "artifact_list", "artifact_save", "artifact_share"]),
    ("preferences", &["preference_forget", "preference_get", "preference_list", "preference_set"]),
];

fn is_of_library(name: &str) -> bool {
    PREFIXES.iter().any(|(_, prefix)| name.starts_with(prefix))
}

fn families(gateway: &Gateway) -> Vec<&'static str> {
    let names = gateway.names();
    let has = |prefix: &str| names.iter().any(|name| name.starts_with(prefix));
    PREFIXES.iter().filter(|(_, prefix)| has(prefix)).map(|(family, _)| *family).collect()
}

fn set(gateway: &Gateway, built_in_tools: Value) -> Value {
    gateway.team.post(&format!("/agent/{}", gateway.id), &json!({"builtInTools": built_in_tools})).expect(204);
    gateway.team.post(&format!("/agent/{}/deploy", gateway.id), &json!({})).expect(200)
}

/// The hints of a tool by its verb: whether it only reads, whether it destroys, and whether a repeated call changes
/// nothing more.
fn hints_of(verb: &str) -> Value {
    match verb {
        "get" | "list" | "search" => json!([true, null, null]),
        "create" | "save" => json!([false, false, null]),
        "update" | "set" | "share" | "complete" | "skip_next" => json!([false, false, true]),
        "delete" | "forget" | "end_recurrence" => json!([false, true, null]),
        other => panic!("a new verb: {other}"),
    }
}

#[test]
fn s0_001_an_agent_has_all_families() {
    let team = Team::new();
    assert_eq!(families(&Agent::of(&team, "all").0), PREFIXES.map(|(family, _)| family));
    assert!(families(&Gateway::new(&team, "gateway", &[])).is_empty(), "a gateway has what is assigned to it");
}

#[test]
fn s0_015_017_021_022_024_and_025_families_can_be_left_out() {
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

#[test]
fn s4_023_each_family_has_exactly_its_tools() {
    let team = Team::new();
    let Agent(gateway) = Agent::of(&team, "exact");
    let shown = team.get(&format!("/agent/{}/tools?format=lobe", gateway.id));
    let manifests = shown["tools"].as_array().expect("manifests");
    for (family, expected) in TOOLS {
        let end = format!("-{family}");
        let is_of_family = |manifest: &&Value| manifest["identifier"].as_str().is_some_and(|text| text.ends_with(&end));
        let manifest = manifests.iter().find(is_of_family).unwrap_or_else(|| panic!("{family}: {shown}"));
        let listed: Vec<_> = manifest["api"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
        assert_eq!(listed, expected, "{family}");
    }
    let names: Vec<_> = gateway.names().into_iter().filter(|name| is_of_library(name)).collect();
    assert_eq!(names.len(), TOOLS.iter().map(|(_, names)| names.len()).sum::<usize>(), "no other tools: {names:?}");
}

#[test]
fn s4_008_and_s4_009_the_hints_of_a_tool_are_those_of_its_verb() {
    let team = Team::new();
    let Agent(gateway) = Agent::of(&team, "hints");
    let listed = gateway.send("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools").iter();
    let named = tools.map(|tool| (tool["name"].as_str().expect("a name"), &tool["annotations"]));
    let of_library: Vec<_> = named.filter(|(name, _)| is_of_library(name)).collect();
    assert_eq!(of_library.len(), 36);
    for (name, annotations) in of_library {
        let (_, verb) = name.split_once('_').expect("a verb");
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint"].map(|hint| &annotations[hint]);
        assert_eq!(json!(hints), hints_of(verb), "{name}");
    }
}
