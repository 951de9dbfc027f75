//! The records of calls by turns.

use serde_json::{Value, json};

use super::talk::{Agent, decision, id, spec};
use crate::harness::Team;

fn listed(team: &Team, query: &str) -> Vec<Value> {
    let list = team.get(&format!("/tool/invocation?{query}"));
    list["tool_invocations"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
}

#[test]
fn the_source_of_a_call_is_the_place_in_the_conversation() {
    let team = Team::new();
    let tool = team.tool("work").body("return [conversation.conversation_id, conversation.interaction_id]").published();
    let agent = Agent::new(&team, "support");
    agent.deploy(&[
        decision("ask", &[tool.id()]),
        json!({"name": "book", "type": "tool-call", "designated_tool": spec(tool.id())}),
    ]);
    let talk = agent.talk();
    talk.turn("book");
    let first = talk.turn("ask");
    let turn = talk.turn_with(json!({"state": "ask", "interaction_id": first["interaction_id"]}));
    let run = talk.run(&turn, "work", json!({}));
    let received = run.json();
    let (conversation, interaction) = (&turn["conversation_id"], &turn["interaction_id"]);
    assert_eq!(received, json!([conversation, interaction]));
    let [record] = &listed(&team, &format!("turn_id={}", id(&turn)))[..] else { panic!("one run") };
    assert_eq!(
        record["invocation_source"],
        json!({
            "type": "regular-conversation", "user_id": team.user, "conversation_id": conversation,
            "interaction_id": interaction,
            "invocation_metadata": {
                "type": "state-transition", "current_state_machine_and_version": ["support", 1], "state_name": "ask",
                "state_transition_index": 1, "tool_call_round_index": 1,
            },
        })
    );
    assert_eq!(record["agent_call"]["turn_id"], turn["id"], "{record}");
    assert_eq!((&record["agent_call"]["protocol"], &record["origin"]), (&json!("rest"), &json!("agent")));

    let turn = talk.turn("book");
    agent.call(&turn, "work", json!({}));
    let record = &listed(&team, &format!("turn_id={}", id(&turn)))[0];
    let metadata = json!({
        "type": "tool-call-state", "current_state_machine_and_version": ["support", 1], "state_name": "book",
    });
    assert_eq!((&record["invocation_source"]["invocation_metadata"], &record["origin"]), (&metadata, &json!("mcp")));
    assert_eq!(record["agent_call"]["client"], "test-client 1.0", "{record}");
    assert_eq!(listed(&team, &format!("conversation_id={}", talk.id)).len(), 2);
}

/// As for every other invocation: once for each key, and as a stream.
#[test]
fn a_call_can_be_repeated_and_streamed() {
    let team = Team::new();
    let tool = team.tool("work").body("await send_status_event('half')\nreturn 'done'").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("ask");
    let path = format!("/conversation/{}/turn/{}/invoke", talk.id, id(&turn));
    let body = json!({"tool": "work", "inputs": [{"input_parameters": {}}]});
    let keyed = || team.request("POST", &path).header("idempotency-key", "k").json(&body).send();
    assert_eq!(keyed().expect(200), keyed().expect(200));
    assert_eq!(listed(&team, &format!("turn_id={}", id(&turn))).len(), 1);
    let events = team.request("POST", &path).json(&body).events();
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["status", "result", "done"]);
}

#[test]
fn a_simulated_conversation_runs_its_calls_as_simulations() {
    let team = Team::new();
    let tool = team.tool("work").body("return metadata.invocation_mode").published();
    let agent = Agent::new(&team, "support").with(&[decision("ask", &[tool.id()])]);
    let talk = agent.talk_as(&team, &json!({
        "mode": "conversation-simulation", "simulation_unit_test_set_run_id": "a".repeat(24), "unit_test_id": "b".repeat(24),
        "run_index": 3,
    }));
    let turn = talk.turn("ask");
    assert_eq!(talk.run(&turn, "work", json!({})).output(), "conversation-simulation");
    let by_mcp = agent.call(&turn, "work", json!({}));
    assert_eq!(by_mcp["result"]["content"][0]["text"], "conversation-simulation", "{by_mcp}");
    let found = listed(&team, &format!("conversation_id={}", talk.id));
    assert_eq!(found.len(), 2, "the source of a simulation has no conversation, and the filter finds it all the same");
    let source = &found[0]["invocation_source"];
    assert_eq!((&source["type"], &source["run_index"]), (&json!("simulation-conversation"), &json!(3)), "{source}");
    assert_eq!(source["simulation_unit_test_set_run_id"], "a".repeat(24));
    assert_eq!(talk.log(None).len(), 2);
}
