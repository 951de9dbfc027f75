//! Calls of tools by tools: what they inherit, what the records say, and what is refused.

mod bounds;
mod languages;
mod refusals;

use serde_json::{Value, json};

use crate::harness::{Run, Team, Tool, input};
use crate::replay;

/// Calls the tools in `calls`, each with its arguments, at the same time, and returns their outputs or errors.
pub const CALLER: &str = "
    import asyncio
    from amigo_tool_scaffold.tools import ToolCallError, call_tool
    async def one(name, arguments):
        try:
            return (await call_tool(name, arguments)).json()
        except ToolCallError as error:
            return {'code': error.code, 'kind': error.kind, 'message': str(error)}
    return await asyncio.gather(*(one(*call) for call in tool_input['calls']))
";

/// Returns what a run is given.
const SHOWS: &str = "
    return {
        'input': tool_input, 'mode': metadata.invocation_mode, 'conversation': conversation and conversation.conversation_id,
        'nonsensitive': dict(user_variables.nonsensitive), 'pin': len(user_variables.sensitive.get('pin', '')),
    }
";

/// A tool that calls others, with the versions that it accepts.
pub fn calling<'t>(team: &'t Team, name: &str, calls: &str) -> Tool<'t> {
    team.tool(name).body(CALLER).manifest(&format!("calls = {{ {calls} }}"))
}

pub fn record(team: &Team, id: &str) -> Value {
    team.get(&format!("/tool/invocation/{id}"))
}

/// The ledger entries of the calls of a run.
pub fn calls_of(team: &Team, run: &Run) -> Vec<Value> {
    record(team, run.id())["ledger"]["used"]["calls"].as_array().expect("a list").clone()
}

#[test]
fn a_tool_calls_others_and_each_call_is_a_run() {
    let team = Team::new();
    team.tool("shows").body(SHOWS).published();
    team.tool("breaks").body("raise LookupError('no such city')").published();
    let tool = calling(&team, "asks", "shows = '>=1', breaks = ''").published();
    let calls = json!({"calls": [["shows", {"city": "Zürich"}], ["breaks", {}], ["shows", {}]]});
    let run = tool.invoke(calls);
    let [first, second, third] = &run.json().as_array().expect("a list").clone()[..] else { panic!("{run}") };
    assert_eq!((&first["input"], &third["input"]), (&json!({"city": "Zürich"}), &json!({})), "{run}");
    assert_eq!(*second, json!({"code": "failed", "kind": "LookupError", "message": "no such city"}));

    let used = calls_of(&team, &run);
    let summary: Vec<_> =
        used.iter().map(|call| json!([call["tool"], call["version"], call["error"], call["total"]["runs"]])).collect();
    let shown = json!(["shows", "1.0.0", null, 1]);
    assert_eq!(summary, [shown.clone(), json!(["breaks", "1.0.0", "LookupError", 1]), shown]);
    assert_eq!(team.history().len(), 4);
    let inner = record(&team, used[0]["invocation_id"].as_str().expect("a run"));
    assert_eq!(inner["inputs"], json!({"city": "Zürich"}), "{inner}");
    assert!(used[0]["total"]["cpu_ms"].as_u64() >= inner["ledger"]["cost"]["cpu_ms"].as_u64(), "{used:?}");
    let text = team.lathe().ok(&["history", "show", run.id()]);
    assert!(text.lines().any(|line| line.starts_with("call      breaks 1.0.0 LookupError as ")), "{text}");
}

#[test]
fn a_call_has_the_mode_the_variables_and_the_conversation_of_its_run() {
    let team = Team::new();
    team.tool("shows").body(SHOWS).published();
    let tool = calling(&team, "asks", "shows = '>=1'").published();
    let mut one = input(&json!({"calls": [["shows", {}]]}));
    one["invocation_mode"] = json!("conversation-simulation");
    one["nonsensitive_user_variables"] = json!({"region": "north"});
    one["sensitive_user_variables"] = json!({"pin": "4711"});
    let source = json!({
        "type": "regular-conversation", "user_id": "ada", "conversation_id": "c".repeat(24), "interaction_id": "d".repeat(24),
        "invocation_metadata": {
            "type": "engage-user", "current_state_machine_and_version": ["shop", 1], "tool_call_round_index": 0,
        },
    });
    let run = tool.invoke_inputs(&json!({"inputs": [one], "invocation_source": source})).remove(0);
    let shown = &run.json()[0];
    assert_eq!(shown["mode"], "conversation-simulation", "{run}");
    assert_eq!((&shown["nonsensitive"], &shown["pin"]), (&json!({"region": "north"}), &json!(4)), "{run}");
    let inner = record(&team, calls_of(&team, &run)[0]["invocation_id"].as_str().expect("a run"));
    assert_eq!(inner["invocation_source"], record(&team, run.id())["invocation_source"]);
    assert!(!inner.to_string().contains("4711"), "{inner}");
}

#[test]
fn a_replay_takes_the_answers_of_calls_from_its_tape() {
    let team = Team::new();
    let shows = team.tool("shows").body("import time\nreturn time.time_ns()").published();
    let tool = calling(&team, "asks", "shows = '>=1'").published();
    let run = tool.invoke(json!({"calls": [["shows", {}], ["other", {}]]}));
    let runs = team.history().len();
    team.delete(&format!("/tool/{}", shows.id())).expect(204);
    replay::identical(&team, run.id());
    assert_eq!(team.history().len(), runs, "a replay calls no tool");
}

#[test]
fn a_further_tool_needs_a_minor_bump() {
    let team = Team::new();
    let tool = calling(&team, "asks", "shows = '>=1'").published();
    let declared = team.get(&format!("/tool/{}/version/1.0.0", tool.id()))["settings"]["calls"].clone();
    assert_eq!(declared, json!({"shows": ">=1"}));
    let manifest = "[project]\nname = 'asks'\n[tool.lathe]\ncalls = { shows = '>=2', other = '' }\n";
    let tool = tool.with_file("pyproject.toml", manifest).pushed();
    let refused = tool.publish(crate::harness::Bump::Patch).detail();
    assert!(refused.contains("the tool may now call the tool other") && !refused.contains("shows"), "{refused}");
    assert_eq!(tool.publish(crate::harness::Bump::Auto).expect(201)["new_version"], "1.1.0");
}
