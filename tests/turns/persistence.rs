//! Which results later interactions see, and the limits of outputs.

use serde_json::{Value, json};

use super::talk::{Agent, Talk, spec};
use crate::harness::{Run, Team, Tool};

/// A tool whose output has as many characters as its input says, of four bytes each.
fn speaker(team: &Team) -> Tool<'_> {
    team.tool("speak").body("return '😀' * tool_input['characters']").published()
}

/// One decision state for each persistence, with its name.
fn states(tool: &str) -> Vec<Value> {
    let state = |persistence: &str| {
        let mut spec = spec(tool);
        spec["result_persistence"] = json!(persistence);
        json!({"name": persistence, "type": "decision", "tool_call_specs": [spec]})
    };
    ["ephemeral", "persisted-preferred", "persisted"].map(state).into()
}

/// Runs the tool in a new interaction, and returns the run and who sees its result: the interaction, and later ones.
fn spoken(talk: &Talk<'_>, state: &str, characters: usize) -> (Run, [bool; 2]) {
    let turn = talk.turn(state);
    let run = talk.run(&turn, "speak", json!({ "characters": characters }));
    let later = talk.turn(state);
    let id = run.id().to_owned();
    let seen = [Some(&turn), Some(&later)].map(|turn| talk.log(turn).contains(&id));
    assert_eq!(talk.log(None).contains(&id), seen[1], "the log without an interaction is that of later ones");
    (run, seen)
}

#[test]
fn s3_035_to_039_the_persistence_of_the_spec_decides_what_later_interactions_see() {
    let team = Team::new();
    let tool = speaker(&team);
    let agent = Agent::new(&team, "support").with(&states(tool.id()));
    let talk = agent.talk();
    for (row, state, characters, expected) in [
        ("S3-035", "ephemeral", 10, [true, false]),
        ("S3-035", "ephemeral", 6_000, [true, false]),
        ("S3-036", "persisted-preferred", 10, [true, true]),
        ("S3-036", "persisted-preferred", 6_000, [true, false]),
        ("S3-037", "persisted", 10, [true, true]),
    ] {
        let (run, seen) = spoken(&talk, state, characters);
        assert_eq!((seen, run.output().chars().count()), (expected, characters), "{row}: {state} {characters}");
    }
    let (run, seen) = spoken(&talk, "persisted", 6_000);
    assert_eq!((&run.0["exception_type"], seen), (&json!("output_not_persistable"), [true, false]), "S3-037");
    for (row, state) in [("S3-038", "ephemeral"), ("S3-038", "persisted-preferred"), ("S3-038", "persisted")] {
        let (run, _) = spoken(&talk, state, 20_001);
        assert_eq!(run.0["exception_type"], "output_too_large", "{row}: {state}");
    }
    for state in ["persisted-preferred", "persisted"] {
        assert_eq!(spoken(&talk, state, 5_000).1, [true, true], "S3-039: {state}");
        assert!(!spoken(&talk, state, 5_001).1[1], "S3-039: {state}");
    }
}

#[test]
fn s3_040_boundaries_are_characters() {
    let team = Team::new();
    let tool = speaker(&team);
    let agent = Agent::new(&team, "support").with(&states(tool.id()));
    let talk = agent.talk();
    // The outcome, and whether later interactions see it.
    let (kept, gone) = (("", true), ("", false));
    let (large, long) = (("output_too_large", false), ("output_not_persistable", false));
    for (characters, [ephemeral, preferred, persisted]) in [
        (4_999, [gone, kept, kept]),
        (5_000, [gone, kept, kept]),
        (5_001, [gone, gone, long]),
        (19_999, [gone, gone, long]),
        (20_000, [gone, gone, long]),
        (20_001, [large, large, large]),
    ] {
        for (state, expected) in
            [("ephemeral", ephemeral), ("persisted-preferred", preferred), ("persisted", persisted)]
        {
            let (run, seen) = spoken(&talk, state, characters);
            let found = (run.0["exception_type"].as_str().unwrap_or_default(), seen[1]);
            assert_eq!(found, expected, "S3-040: {state} {characters}");
            let turn = talk.turn(state);
            let by_mcp = agent.call(&turn, "speak", json!({ "characters": characters }));
            let error = by_mcp["result"]["_meta"]["dev.lathe/error"]["type"].as_str().unwrap_or_default();
            let id = by_mcp["result"]["_meta"]["dev.lathe/invocationId"].as_str().unwrap().to_owned();
            assert_eq!((error, talk.log(None).contains(&id)), expected, "S3-040: by MCP, {state} {characters}");
        }
    }
}

#[test]
fn s3_041_to_045_every_list_of_every_state_has_its_persistence() {
    let team = Team::new();
    let tool = speaker(&team);
    let helper = team.tool("helper").published();
    let of = |tool: &str, persistence: &str| {
        let mut spec = spec(tool);
        spec["result_persistence"] = json!(persistence);
        spec
    };
    // The list of the row is strict, and another list of the same state is not.
    let (strict, lax) = (of(tool.id(), "persisted"), of(tool.id(), "ephemeral"));
    let states = [
        json!({"name": "s041", "type": "action", "action_tool_call_specs": [strict], "exit_condition_tool_call_specs": [lax]}),
        json!({"name": "s042", "type": "action", "action_tool_call_specs": [lax], "exit_condition_tool_call_specs": [strict]}),
        json!({"name": "s043", "type": "decision", "tool_call_specs": [strict]}),
        json!({"name": "s044", "type": "reflection", "tool_call_specs": [strict]}),
        json!({"name": "s045", "type": "tool-call", "designated_tool": of(helper.id(), "ephemeral"), "tool_call_specs": [strict]}),
    ];
    let agent = Agent::new(&team, "support").with(&states);
    let talk = agent.talk();
    for (row, state, list, other) in [
        ("S3-041", "s041", "action", Some("exit-condition")),
        ("S3-042", "s042", "exit-condition", Some("action")),
        ("S3-043", "s043", "action", None),
        ("S3-044", "s044", "action", None),
        ("S3-045", "s045", "action", None),
    ] {
        let turn = talk.turn_with(json!({"state": state, "list": list}));
        let presented = turn["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "speak").unwrap();
        assert_eq!(presented["result_persistence"], "persisted", "{row}: {turn}");
        let run = talk.run(&turn, "speak", json!({"characters": 5_001}));
        assert_eq!(run.0["exception_type"], "output_not_persistable", "{row}");
        if let Some(list) = other {
            let turn = talk.turn_with(json!({"state": state, "list": list}));
            assert_eq!(turn["tools"][0]["result_persistence"], "ephemeral", "{row}: {turn}");
            assert_eq!(talk.run(&turn, "speak", json!({"characters": 5_001})).output().chars().count(), 5_001, "{row}");
        }
    }
    let turn = talk.turn("s045");
    assert_eq!(
        super::talk::names(&turn),
        ["helper", "speak"],
        "S3-045: the designated tool is presented with its helpers"
    );
}
