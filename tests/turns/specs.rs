//! The fields of a tool call specification, from the draft to the turn.

use serde_json::{Value, json};

use super::talk::{Agent, id};
use crate::harness::{Bump, Team};

/// The example of the reference, with this tool.
fn example(tool: &str) -> Value {
    json!({
        "type": "action", "name": "customer_support",
        "action_tool_call_specs": [{
            "tool_id": tool, "version_constraint": ">=1.0.0",
            "additional_instruction": "Search the knowledge base for relevant articles",
            "audio_fillers": ["Let me search for that..."], "audio_filler_triggered_after": 2.0,
            "result_persistence": "persisted-preferred",
        }],
    })
}

#[test]
fn s3_046_to_051_the_fields_of_a_spec_are_presented() {
    let team = Team::new();
    let tool = team.tool("search").body("return 'one'").published();
    let agent = Agent::new(&team, "support").with(&[example(tool.id())]);
    let shown = team.get(&format!("/agent/{}", agent.id));
    let state = &shown["draft"]["states"][0];
    assert_eq!(state["action_tool_call_specs"], example(tool.id())["action_tool_call_specs"], "{shown}");
    assert_eq!(team.get(&format!("/agent/{}/state", agent.id))["states"][0], *state);
    assert_eq!(team.get(&format!("/agent/{}/revision/1", agent.id))["states"][0], *state);
    let turn = agent.talk().turn("customer_support");
    let presented = &turn["tools"][0];
    for (row, field, expected) in [
        ("S3-046", "tool_id", json!(tool.id())),
        ("S3-047", "version_constraint", json!(">=1.0.0")),
        ("S3-048", "additional_instruction", json!("Search the knowledge base for relevant articles")),
        ("S3-049", "audio_fillers", json!(["Let me search for that..."])),
        ("S3-050", "audio_filler_triggered_after", json!(2.0)),
        ("S3-051", "result_persistence", json!("persisted-preferred")),
    ] {
        assert_eq!(presented[field], expected, "{row}: {turn}");
    }
    let described = "A tool of a test.\n\nSearch the knowledge base for relevant articles";
    assert_eq!(presented["description"], described, "S3-048: the model reads the instruction");
    assert_eq!(presented["input_schema"]["type"], "object", "{turn}");
}

#[test]
fn s3_047_the_constraint_selects_the_version() {
    let team = Team::new();
    let tool = team.tool("rate").body("return 'one'").published();
    let tool = tool.body("return 'two'").pushed();
    tool.publish(Bump::Major).expect(201);
    let state = |name: &str, constraint: &str| {
        let spec = json!({"tool_id": tool.id(), "version_constraint": constraint});
        json!({"name": name, "type": "reflection", "tool_call_specs": [spec]})
    };
    let agent = Agent::new(&team, "support").with(&[state("first", "<2"), state("any", ">=1")]);
    let talk = agent.talk();
    for (name, version, output) in [("first", "1.0.0", "one"), ("any", "2.0.0", "two")] {
        let turn = talk.turn(name);
        assert_eq!(turn["tools"][0]["version"], version, "S3-047: {name}");
        assert_eq!(talk.run(&turn, "rate", json!({})).output(), output, "S3-047: {name}");
    }
    team.post(&format!("/agent/{}/state", agent.id), &state("first", ">=9")).expect(204);
    let refused = team.post(&format!("/agent/{}/deploy", agent.id), &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "assignment_unusable"), "S3-047: {refused}");
}

#[test]
fn states_that_break_a_rule_are_refused() {
    let team = Team::new();
    let agent = Agent::new(&team, "support");
    let spec = json!({"tool_id": "a".repeat(24), "version_constraint": ">=1"});
    let path = format!("/agent/{}/state", agent.id);
    for (what, state, place) in [
        ("a name with a blank", json!({"name": "a b", "type": "decision"}), json!(["body", "name"])),
        ("a type", json!({"name": "a", "type": "engage"}), json!(["body", "type"])),
        (
            "a list of another type",
            json!({"name": "a", "type": "decision", "action_tool_call_specs": [spec]}),
            json!(["body", "action_tool_call_specs"]),
        ),
        (
            "a tool twice",
            json!({"name": "a", "type": "decision", "tool_call_specs": [spec, spec]}),
            json!(["body", "tool_call_specs"]),
        ),
        ("no designated tool", json!({"name": "a", "type": "tool-call"}), json!(["body"])),
        (
            "a designated tool as its helper",
            json!({"name": "a", "type": "tool-call", "designated_tool": spec, "tool_call_specs": [spec]}),
            json!(["body", "tool_call_specs"]),
        ),
        (
            "more than a list holds",
            json!({"name": "a", "type": "decision", "tool_call_specs": vec![spec.clone(); 101]}),
            json!(["body", "tool_call_specs"]),
        ),
    ] {
        let refused = team.post(&path, &state);
        assert_eq!(refused.status, 422, "{what}: {refused}");
        assert_eq!(refused.json()["detail"][0]["loc"], place, "{what}: {refused}");
    }
    let none = team.get(&path);
    assert_eq!(none["states"], json!([]));
    let started = team.post(&format!("/agent/{}/conversation", agent.id), &json!({"unit_test_id": "a".repeat(24)}));
    assert_eq!(started.status, 422, "a regular conversation has no simulation: {started}");
    let started = team.post(&format!("/agent/{}/conversation", agent.id), &json!({})).expect(201);
    assert_eq!(team.get(&format!("/conversation/{}", id(&started))), started);
}
