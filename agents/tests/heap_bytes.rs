//! Compares the estimates of bytes on the heap with those that the allocator gave out. A program of its own, since it counts all
//! allocations of the process.

#[path = "../../tests/harness/counting_allocator.rs"]
mod counting_allocator;
#[path = "../../tests/harness/estimated_bytes.rs"]
mod estimated_bytes;

use agents::{AgentDraft, AgentState, Assignment, SystemPrompt, ToolExposure};
use serde_json::{Value, json};

use estimated_bytes::check;

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn spec(tool: usize, constraint: &str) -> Value {
    json!({
        "tool_id": format!("{tool:024x}"), "version_constraint": constraint,
        "additional_instruction": "Search the knowledge base.", "audio_fillers": ["Let me search for that.", "."],
        "audio_filler_triggered_after": 2000, "result_persistence": "persisted-preferred",
        "humanIntervention": {"rules": [{"when": {"amount": {"minimum": tool}}, "intervention": "always"}]},
    })
}

#[test]
fn the_bytes_of_drafts_are_estimated() {
    let constraints = [">=1.2,<2", "==1.*", &(">0,".repeat(15) + ">0")];
    let specs: Vec<_> = (0..100).map(|tool| spec(tool, constraints[tool % 3])).collect();
    let state = json!({
        "name": "support", "type": "action", "action_tool_call_specs": specs, "exit_condition_tool_call_specs": specs,
    });
    check("assignments", || read::<Vec<Assignment>>(&json!(specs)));
    check("a state", || read::<AgentState>(&state));
    check("a draft", || AgentDraft {
        system_prompt: SystemPrompt::parse(&"x".repeat(60_000)).unwrap(),
        tool_exposure: ToolExposure::Full,
        built_in_tools: read(&json!({"disabled": ["memory"], "allowedFamilies": null, "humanIntervention": {}})),
        assignments: read(&json!(specs)),
        states: read(&json!([state])),
    });
}
