//! One tool from its source to its history, over HTTP, with only a plain client and git.
//!
//! The harness checks every answer against the contract's schema for its operation.

use serde_json::{Value, json};

use crate::harness::{Bump, Event, Run, Team, Tool, input};

const FIRST: &str = "return 'hello ' + tool_input['name']";

/// Greets, sends a status event, returns the mode of a simulation, and fails for one guest.
const SECOND: &str = r#"
    await send_status_event("greeting " + tool_input["name"], progress=1, total=2, data={"who": tool_input["name"]})
    if tool_input["name"] == "mallory":
        refuse(tool_input["name"])
    if metadata.invocation_mode == "conversation-simulation":
        return {"greeted": tool_input["name"], "simulated": True}
    return {"greeted": tool_input["name"], "word": "salutations"}
"#;

const REFUSE: &str = r#"
    def refuse(name):
        raise PermissionError(name + " is unwelcome")
"#;

#[test]
fn from_source_to_history() {
    let team = Team::new();
    let tool = first_version(&team);
    let tool = second_version(tool);
    let results = ten_inputs(&tool);
    every_run_is_in_the_history(&team, &tool, &results);
    words_are_found_again(&team);
    status_events_arrive_before_the_result(&tool);
    versions_go_out_of_use(&team, &tool);
}

fn first_version(team: &Team) -> Tool<'_> {
    let tool = team.tool("greet").body(FIRST).pushed();
    let tested = tool.test(&json!({"name": "ada"})).expect(200);
    assert_eq!(Run(tested["invocation_results"][0].clone()).output(), "hello ada");
    assert_eq!(tool.versions(), [""; 0], "a test publishes nothing");
    assert_eq!(tool.publish(Bump::Patch).expect(201), json!({"new_version": "1.0.0"}));
    assert_eq!(tool.invoke(json!({"name": "bob"})).output(), "hello bob");
    tool
}

fn second_version(tool: Tool<'_>) -> Tool<'_> {
    let tool = tool.source(REFUSE, SECOND).pushed();
    assert_eq!(tool.publish(Bump::Minor).expect(201), json!({"new_version": "1.1.0"}));
    assert_eq!(tool.versions(), ["1.0.0", "1.1.0"]);
    tool
}

fn guests() -> Vec<String> {
    (0..10).map(|number| if number == 5 { "mallory".to_owned() } else { format!("guest{number}") }).collect()
}

fn ten_inputs(tool: &Tool<'_>) -> Vec<Run> {
    let mut inputs: Vec<Value> = guests().iter().map(|name| input(&json!({"name": name}))).collect();
    inputs[9]["invocation_mode"] = json!("conversation-simulation");
    let results = tool.invoke_inputs(&json!({"inputs": inputs}));
    for (name, run) in guests().iter().zip(&results) {
        if name != "mallory" {
            assert_eq!(run.json()["greeted"], **name, "results come in the order of the inputs");
        }
    }
    assert_eq!(results[9].json()["simulated"], true);
    let failure = results[5].failure();
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("PermissionError", "mallory is unwelcome"));
    assert!(failure.trace.iter().any(|line| line.contains("tool.py") && line.contains("refuse")), "{failure:?}");
    results
}

fn every_run_is_in_the_history(team: &Team, tool: &Tool<'_>, results: &[Run]) {
    let history = team.history();
    let of = |run: &Run| history.iter().find(|record| record["id"] == run.id()).unwrap_or_else(|| panic!("{run}"));
    for (name, run) in guests().iter().zip(results) {
        let record = of(run);
        assert_eq!(record["tool_id"], tool.id());
        assert_eq!(record["tool_version"], json!({"major": 1, "minor": 1, "patch": 0}));
        assert_eq!(record["inputs"]["name"], **name);
        assert_eq!(record["invocation_status"]["succeeded"], run.0["succeeded"]);
        assert_eq!(record["invocation_status"]["output"], run.0["output"]);
        assert_eq!(record["duration_ms"], run.duration_ms());
        assert_eq!(record["output_bytes"], json!(run.0["output"].as_str().map(str::len)));
        assert_eq!(record["status_events"][0]["message"], format!("greeting {name}"));
    }
    assert_eq!(of(&results[9])["invocation_mode"], "conversation-simulation");
    // The branch test, the run of 1.0.0, and ten runs.
    assert_eq!(history.len(), 12);
    let failed = team.get("/tool/invocation?succeeded=false");
    assert_eq!(failed["tool_invocations"].as_array().map(Vec::len), Some(1));
}

fn words_are_found_again(team: &Team) {
    let found = |query: &str, field: &str| {
        let search = team.request("GET", "/tool/invocation/search");
        let found = search.query(&[("query", query), ("query_against", field)]).send().expect(200);
        found["tool_invocations"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(found("salutations", "invocation_status.output"), 8);
    assert_eq!(found("salutations guest3", "invocation_status.output"), 1);
    assert_eq!(found("unwelcome", "invocation_status.exception_message"), 1);
    assert_eq!(found("refuse", "invocation_status.exception_stack_trace"), 1);
    assert_eq!(found("salutations", "invocation_status.exception_message"), 0);
    for hostile in ["\"", "* OR NEAR(", "a AND", "';--", "{}^:"] {
        assert_eq!(found(hostile, "invocation_status.output"), 0, "{hostile}");
    }
}

fn status_events_arrive_before_the_result(tool: &Tool<'_>) {
    // `work/streams.rs` tests that events do not wait for the result.
    let body = "await send_status_event('early')\nreturn 'late'";
    let events = tool.test_events(body);
    let at = |name: &str| {
        let found = events.iter().find(|event: &&Event| event.name == name);
        found.unwrap_or_else(|| panic!("no {name}: {events:?}"))
    };
    assert_eq!(at("status").data["message"], "early");
    assert_eq!(at("result").data["invocation_results"][0]["output"], "late");
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names[names.len() - 3..], ["status", "result", "done"], "{names:?}");
    let steps = events.iter().filter(|event| event.name == "step" && event.data["state"] == "finished");
    let steps: Vec<&str> = steps.filter_map(|event| event.data["name"].as_str()).collect();
    assert_eq!(steps, ["checkout", "manifest", "image", "dependencies", "compile", "checks"]);
}

fn versions_go_out_of_use(team: &Team, tool: &Tool<'_>) {
    let versions = format!("/tool/{}/version", tool.id());
    team.delete(&format!("{versions}/%3C1.1")).expect(204);
    team.delete(&format!("{versions}/%3D%3D9.9.9")).expect(404);
    let invoke = |version: &str| {
        team.post(&format!("{versions}/{version}/invoke"), &json!({"inputs": [input(&json!({"name": "eve"}))]}))
    };
    invoke("1.0.0").expect(404);
    invoke("1.1.0").expect(200);
    let live = team.get(&format!("{versions}?deprecated=false"));
    assert_eq!(live["tool_versions"].as_array().map(Vec::len), Some(1));
    team.delete(&format!("/tool/{}", tool.id())).expect(204);
    invoke("1.1.0").expect(404);
    let tools = team.get("/tool/?deprecated=true");
    assert_eq!(tools["tools"][0]["id"], tool.id());
    assert_eq!(team.history().len(), 14, "what ran stays in the history");
}
