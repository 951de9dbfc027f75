//! Tools in Python.

use serde_json::{Value, json};

use super::{declared, forests, function, orders};
use crate::harness::{Bump, Team, input};

fn call(api: &str, arguments: &Value) -> Value {
    json!({"api": api, "arguments": arguments})
}

#[test]
fn six_recursive_apis_cost_as_one() {
    let team = Team::new();
    let tool = forests(&team).published();
    let tree = (0..11).fold(json!({"name": "leaf"}), |inner, _| json!({"name": "branch", "children": [inner]}));
    for arguments in [json!({"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}), tree] {
        let run = tool.invoke(json!({"api": "plant3", "arguments": arguments}));
        assert_eq!(arguments["name"], run.output());
    }
    let wrong =
        json!({"api": "plant3", "arguments": {"name": "a", "children": [{"name": "b", "children": [{"name": 1}]}]}});
    let refused = tool.invoke_request(&json!({"inputs": [input(&wrong)]})).send();
    refused.expect(400);
    assert!(refused.detail().contains("/arguments/children/0/children/0/name"), "{refused}");
}

#[test]
fn a_call_names_an_api_and_has_its_arguments() {
    let team = Team::new();
    let tool = orders(&team).published();
    let run = tool.invoke(call("create", &json!({"item": "pen", "count": 2})));
    assert_eq!(run.json(), json!({"created": "pen", "count": 2}), "the arguments have the type of the function");
    assert_eq!(tool.invoke(call("create", &json!({"item": "pen"}))).json()["count"], 1);
    assert_eq!(tool.invoke(call("list", &json!({"page": 1}))).json(), json!({"listed": {"page": 1}}));
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert_eq!(record["inputs"], call("create", &json!({"item": "pen", "count": 2})), "{record}");
    let replayed = team.post(&format!("/tool/invocation/{}/replay", run.id()), &json!({})).expect(200);
    assert_eq!(replayed["identical"], true, "{replayed}");
}

#[test]
fn other_inputs_are_refused_with_their_place() {
    let team = Team::new();
    let tool = orders(&team).published();
    for (refused, place) in [
        (call("remove", &json!({})), "input_parameters/api: "),
        (json!({"api": "create"}), "\"arguments\" is a required property"),
        (json!({"item": "pen"}), "\"api\" is a required property"),
        (call("create", &json!({"item": 1})), "input_parameters/arguments/item: "),
        (call("create", &json!({"item": "pen", "price": 1})), "input_parameters/arguments: "),
        (call("create", &json!({})), "\"item\" is a required property"),
    ] {
        let answer = tool.invoke_request(&json!({"inputs": [input(&refused)]})).send();
        assert_eq!((answer.status, answer.code().as_str()), (400, "input_schema"), "{answer}");
        assert!(answer.detail().contains(place), "{place}: {answer}");
    }
}

#[test]
fn a_version_shows_its_apis() {
    let team = Team::new();
    let schema = json!({"type": "object", "properties": {"all": {"type": "boolean"}}, "additionalProperties": false});
    let more = "input_schema = 'in.json'\noutput_schema = 'out.json'\nintervention = 'always'\n\
        annotations = { destructive = true }\nentry_point = 'bin:empty'";
    let tool = orders(&team).manifest(&declared("remove", more));
    let tool = tool.with_file("bin.py", &function("empty", "", "return 1")).with_file("in.json", &schema.to_string());
    let tool = tool.with_file("out.json", r#"{"type": "integer"}"#).published();
    let shown = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let apis = &shown["settings"]["apis"];
    assert_eq!(
        apis["remove"],
        json!({
            "description": "The API remove.", "input_schema": schema, "output_schema": {"type": "integer"},
            "annotations": {"destructive": true}, "intervention": "always",
        }),
        "{shown}"
    );
    assert_eq!(apis["create"]["input_schema"]["required"], json!(["item"]), "{shown}");
    assert_eq!(apis.as_object().unwrap().keys().collect::<Vec<_>>(), ["create", "list", "remove"]);
    assert_eq!(shown["input_schema"]["properties"]["api"]["enum"], json!(["create", "list", "remove"]), "{shown}");
}

#[test]
fn other_functions_than_the_declared_apis_are_refused_with_both_lists() {
    let team = Team::new();
    let functions = |names: &[&str]| names.iter().map(|name| function(name, "", "return 1")).collect::<String>();
    let tool = orders(&team).with_file("tool.py", &functions(&["create", "remove", "_own"])).pushed();
    let expected = "compile failed (apis): tool.py: the declared APIs are not the exported functions: \
                    declared `create, list`, exported `create, remove`;";
    let refused = tool.publish(Bump::Minor).detail();
    assert!(refused.contains(expected), "{refused}");
    let refused = tool.test(&json!({})).detail();
    assert!(refused.contains(expected), "the test of a branch: {refused}");
    let again = || orders(&team).with_id(tool.id());
    let refused = |text: &str| again().with_file("tool.py", text).pushed().publish(Bump::Minor).detail();
    let hidden = refused(&format!("__all__ = ['create']\n{}", functions(&["create", "list"])));
    assert!(hidden.contains("declared `create, list`, exported `create`;"), "{hidden}");
    let missing = refused(&format!("__all__ = ['create', 'list']\n{}", functions(&["create"])));
    assert!(missing.contains("declared `create, list`, exported `create`;"), "{missing}");
    let imported = format!("from json import dumps\n{}", functions(&["create", "list"]));
    again().with_file("tool.py", &imported).published();
}

#[test]
fn a_function_that_cannot_be_an_api_is_refused() {
    let team = Team::new();
    let tool = orders(&team);
    let again = || orders(&team).with_id(tool.id());
    let refused = |text: &str| again().with_file("tool.py", text).pushed().publish(Bump::Minor).detail();
    let list = function("list", "", "return 1");
    let parameters = refused(&format!("{list}\ndef create(order): ...\n"));
    assert!(parameters.contains("compile failed (entry-point-signature): tool.py:"), "{parameters}");
    let typed = refused(&format!("{list}\n{}", function("create", ": int", "return 1")));
    assert!(typed.contains("(input-schema)") && typed.contains("create: TypeError: tool_input: must be"), "{typed}");
    let fails = refused("raise ValueError('not today')");
    assert!(fails.contains("compile failed (import): tool.py:1: ValueError: not today"), "{fails}");
    let module = again().manifest(&declared("remove", "entry_point = 'bin:remove'")).pushed();
    let module = module.publish(Bump::Minor).detail();
    assert!(module.contains("there is no module 'bin' in the project"), "{module}");
    let taken = again().with_file("lathe_apis.py", "").pushed().publish(Bump::Minor).detail();
    assert!(taken.contains("compile failed (module-name): lathe_apis.py: "), "{taken}");
    let package = again().with_file("src/lathe_api_report/__init__.py", "").pushed().publish(Bump::Minor).detail();
    assert!(package.contains("compile failed (module-name): src/lathe_api_report/__init__.py: "), "{package}");
}

#[test]
fn a_failure_shows_the_lines_of_the_author() {
    let team = Team::new();
    let code = function("create", "", "raise ValueError('sold out')") + &function("list", "", "return 1");
    let tool = orders(&team).with_file("tool.py", &code).published();
    let failure = tool.invoke(call("create", &json!({}))).failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("ValueError", "sold out"));
    let trace = failure.trace.join("\n");
    assert!(trace.contains("tool.py") && !trace.contains("lathe_apis"), "{trace}");
}

#[test]
fn the_output_of_an_api_has_its_schema() {
    let team = Team::new();
    let tool = orders(&team).manifest(&declared("count", "output_schema = 'out.json'"));
    let code = ["create", "list", "count"].map(|name| function(name, "", "return tool_input['value']")).concat();
    let tool = tool.with_file("tool.py", &code).with_file("out.json", r#"{"type": "integer"}"#).published();
    assert_eq!(tool.invoke(call("count", &json!({"value": 1}))).json(), 1);
    let failure = tool.invoke(call("count", &json!({"value": "many"}))).failure();
    assert_eq!(failure.kind, "output_schema", "{failure:?}");
    assert_eq!(tool.invoke(call("list", &json!({"value": "many"}))).output(), "many");
}
