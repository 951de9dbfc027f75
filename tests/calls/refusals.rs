//! Calls that are refused. The calling run continues, and its ledger has the reason.

use serde_json::{Value, json};

use super::{calling, calls_of};
use crate::harness::{Team, input};

const SCHEMA: &str = r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#;

#[test]
fn a_refused_call_is_an_error_for_the_tool() {
    let team = Team::new();
    let gone = team.tool("gone").published();
    team.delete(&format!("/tool/{}", gone.id())).expect(204);
    team.tool("strict").with_file("input.json", SCHEMA).manifest("input_schema = 'input.json'").published();
    team.tool("confirmed").manifest("intervention = 'always'").published();
    let declared = "gone = '', never = '', strict = '>=1', newer = '>=9', confirmed = ''";
    team.tool("newer").published();
    let tool = calling(&team, "asks", declared).published();
    let rows = [
        ("undeclared", json!({}), "denied", "undeclared", "`calls` of the version does not list this tool"),
        ("No Name", json!({}), "denied", "undeclared", "does not list"),
        ("gone", json!({}), "denied", "not_found", "there is no tool gone"),
        ("never", json!({}), "denied", "not_found", "there is no tool never"),
        ("newer", json!({}), "denied", "version_not_found", ">=9"),
        ("strict", json!({"city": 3}), "invalid_arguments", "input_schema", "/city"),
        ("confirmed", json!({}), "denied", "confirmation_missing", "a person has to confirm"),
    ];
    let calls: Vec<Value> = rows.iter().map(|(name, arguments, ..)| json!([name, arguments])).collect();
    let run = tool.invoke(json!({ "calls": calls }));
    let answers = run.json();
    let used = calls_of(&team, &run);
    for (place, (name, _, code, recorded, text)) in rows.iter().enumerate() {
        let answer = &answers[place];
        assert_eq!((&answer["code"], &answer["kind"]), (&json!(code), &Value::Null), "{name}: {answer}");
        assert!(answer["message"].as_str().expect("a text").contains(text), "{name}: {answer}");
        assert_eq!((&used[place]["error"], &used[place]["is_refused"]), (&json!(recorded), &json!(true)), "{name}");
        assert_eq!(used[place]["invocation_id"], Value::Null, "{name}");
    }
    assert_eq!(team.history().len(), 1);
}

#[test]
fn a_call_needs_the_rights_of_the_user() {
    let team = Team::new();
    team.tool("salaries").body("return 1").published();
    let tool = calling(&team, "asks", "salaries = ''").published();
    let invoke = "Tool:InvokeTool if tool_name equal asks";
    team.lathe().ok(&["role", "create", "asker", "--grant", invoke]);
    let bob = team.joined_by("bob", "asker");
    let asked = json!({"calls": [["salaries", {}]]});
    let run = bob.tool("asks").with_id(tool.id()).invoke(asked.clone());
    assert_eq!(run.json()[0]["code"], "denied", "{run}");
    assert!(run.json()[0]["message"].as_str().expect("a text").contains("Tool:InvokeTool"), "{run}");
    assert_eq!(tool.invoke(asked).json(), json!([1]));
}

#[test]
fn a_version_that_declares_no_calls_makes_none() {
    let team = Team::new();
    team.tool("shows").body("return 1").published();
    let tool = team.tool("asks").body(super::CALLER).pushed();
    let asked = json!({"calls": [["shows", {}]]});
    let tested = tool.test(&asked).expect(200);
    assert!(tested.to_string().contains("this run may call no tools"), "{tested}");
    tool.publish(crate::harness::Bump::Minor).expect(201);
    let run = tool.invoke(asked.clone());
    assert_eq!(run.json()[0]["code"], "denied", "{run}");
    let declared = calling(&team, "tested", "shows = ''").pushed().test(&asked).expect(200);
    assert!(declared.to_string().contains("the run is a test of a branch"), "{declared}");
    let body = json!({"inputs": [input(&json!({"calls": [["shows", 3]]}))]});
    assert!(tool.invoke_inputs(&body)[0].failure().message.contains("not iterable"), "arguments are an object");
}
