//! Replays by other code, which report what that code does differently.

use serde_json::{Value, json};

use super::replay;
use crate::harness::{Bump, Team};

fn find<'a>(answer: &'a Value, what: &str) -> Vec<&'a Value> {
    answer["differences"].as_array().expect("a list").iter().filter(|one| one["what"] == what).collect()
}

#[test]
fn another_version_gives_all_differences() {
    let team = Team::new();
    let before = "import asyncio, random, time";
    let first = "
        await send_status_event('begun')
        await send_status_event('half')
        print('first')
        return [random.random(), time.time_ns()]
    ";
    let tool = team.next_tool().source(before, first).published();
    let run = tool.invoke(json!({}));
    let second = "
        await send_status_event('begun')
        await send_status_event('done')
        await asyncio.sleep(200)
        print('second')
        return [random.random(), time.time_ns(), metadata.version]
    ";
    let tool = tool.source(before, second).published();
    let answer = replay(&team, run.id(), &json!({"version": ">=1.1"})).expect(200);
    assert_eq!(answer["identical"], false);
    let outcome = find(&answer, "outcome");
    let then: Value = serde_json::from_str(outcome[0]["recorded"].as_str().expect("text")).expect("JSON");
    let now: Value = serde_json::from_str(outcome[0]["replayed"].as_str().expect("text")).expect("JSON");
    assert_eq!(then[0], now[0], "the same randomness");
    let waited = now[1].as_u64().expect("a number") - then[1].as_u64().expect("a number");
    // The run of the replay did not wait, or it would have exceeded its time limit.
    assert!(waited >= 199_000_000_000, "time went on where it waited: {answer}");
    assert_eq!(now[2], "1.1.0");
    assert_eq!(find(&answer, "logs")[0]["replayed"], "second\n");
    let effects = find(&answer, "effect");
    assert_eq!((effects.len(), &effects[0]["position"]), (1, &json!(1)), "{answer}");
    assert!(effects[0]["recorded"].as_str().is_some_and(|text| text.contains("half")), "{answer}");
    let waits = |one: &&&Value| one["replayed"].as_str().is_some_and(|text| text.starts_with("waits: "));
    assert!(find(&answer, "count").iter().any(|one| waits(&one)), "{answer}");
    assert!(answer["cost"]["recorded"]["memory_peak_bytes"].is_u64() && answer["cost"]["replayed"].is_object());
    assert_eq!(replay(&team, run.id(), &json!({"version": "1.0.0"})).expect(200)["identical"], true);
    let missing = replay(&team, run.id(), &json!({"version": "7"}));
    assert_eq!((missing.status, missing.code()), (404, "not_found".into()));
    drop(tool);
}

#[test]
fn an_input_that_violates_the_schema_of_other_code_is_refused() {
    let team = Team::new();
    let tool = team.next_tool().published();
    let run = tool.invoke(json!({"text": 7}));
    let schema = r#"{"type": "object", "properties": {"text": {"type": "string"}}}"#;
    let tool = tool.with_file("in.json", schema).manifest("input_schema = 'in.json'").pushed();
    tool.publish(Bump::Major).expect(201);
    let refused = replay(&team, run.id(), &json!({"version": "2.0.0"}));
    assert_eq!((refused.status, refused.code()), (400, "input_schema".into()));
    drop(tool);
}

#[test]
fn variables_come_from_the_tape_and_then_from_the_tool() {
    let team = Team::new();
    let body = "return sorted(config.envvars.items())";
    let tool = team.next_tool().body(body).manifest("required_envvars = ['REGION']");
    tool.set_variables(&[("REGION", "north", false)]);
    let tool = tool.published();
    let run = tool.invoke(json!({}));
    let update = json!({"inserts": [], "updates": [{"name": "REGION", "value": "south"}], "deletes": []});
    team.post(&format!("/tool/{}/envvar", tool.id()), &update).expect(204);
    assert_eq!(super::identical(&team, run.id())["invocation_result"]["output"], r#"[["REGION","north"]]"#);
    let tool = tool
        .manifest("")
        .with_file("pyproject.toml", "[project]\nname = \"x\"\n[tool.lathe]\nrequired_envvars = ['REGION', 'SIZE']\n");
    team.push();
    let branch = json!({"commit_branch": team.branch()});
    let refused = replay(&team, run.id(), &branch);
    assert_eq!((refused.status, refused.code()), (400, "variable_missing".into()));
    tool.set_variables(&[("SIZE", "large", false)]);
    let answer = replay(&team, run.id(), &branch).expect(200);
    assert_eq!(answer["invocation_result"]["output"], r#"[["REGION","north"],["SIZE","large"]]"#);
}

#[test]
fn a_deprecated_version_still_replays() {
    let team = Team::new();
    let tool = team.next_tool().source("import uuid", "return str(uuid.uuid4())").published();
    let run = tool.invoke(json!({}));
    tool.publish(Bump::Patch);
    team.delete(&format!("/tool/{}/version/1.0.0", tool.id())).expect(204);
    super::identical(&team, run.id());
    team.delete(&format!("/tool/{}", tool.id())).expect(204);
    super::identical(&team, run.id());
}
