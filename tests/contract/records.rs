//! Records of all origins, found by user, time, state and words, over HTTP and with the command.

use serde_json::{Value, json};

use crate::harness::{Answer, Team, Tool, eventually, input};

/// The harness checks that every record has the shape of the contract.
fn records(team: &Team, query: &str) -> Vec<Value> {
    team.get(&format!("/tool/invocation?{query}"))["tool_invocations"].as_array().expect("a list").clone()
}

fn origins(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["origin"].as_str().expect("text")).collect()
}

/// The source of a run outside of a conversation, as clients of the contract read it.
fn source_outside(kind: &str, user: &str) -> Value {
    let metadata = json!({
        "type": "engage-user", "current_state_machine_and_version": ["", 0], "tool_call_round_index": 0,
    });
    match kind {
        "regular-conversation" => json!({
            "type": kind, "user_id": user, "conversation_id": null, "interaction_id": null,
            "invocation_metadata": metadata,
        }),
        _ => json!({
            "type": kind, "simulation_unit_test_set_run_id": null, "unit_test_id": null, "run_index": null,
            "invocation_metadata": metadata,
        }),
    }
}

#[test]
fn every_record_has_a_source_of_the_contract_and_its_origin() {
    let team = Team::new();
    let tool = team.tool("origins").body("return 'done'").published();
    tool.invoke(json!({}));
    let mut simulated = input(&json!({}));
    simulated["invocation_mode"] = json!("conversation-simulation");
    tool.invoke_inputs(&json!({"inputs": [simulated]}));
    tool.test(&json!({})).expect(200);
    let all = records(&team, "sort_by=%2Bcreated_at");
    assert_eq!(origins(&all), ["direct", "direct", "branch-test"]);
    let [direct, simulated, branch] = all.as_slice() else { panic!("three runs") };
    for record in &all {
        let caller = (&record["api_key_id"], &record["caller_address"]);
        assert_eq!(caller, (&json!(team.api_key_id), &json!("127.0.0.1")), "{record}");
    }
    assert_eq!(direct["invocation_source"], source_outside("regular-conversation", &team.user));
    assert_eq!(simulated["invocation_source"], source_outside("simulation-conversation", &team.user));
    assert_eq!((&simulated["user_id"], &direct["tested_branch"]), (&json!(team.user), &Value::Null));
    assert_eq!(branch["invocation_source"], source_outside("regular-conversation", &team.user));
    assert_eq!(branch["tested_branch"]["commit_branch"], team.branch());
    assert_eq!((&branch["tool_id"], &branch["tool_version"]["major"]), (&json!("0".repeat(24)), &json!(0)));

    assert_eq!(origins(&records(&team, "origin=branch-test")), ["branch-test"]);
    let simulations = records(&team, "invocation_source_type=simulation-conversation");
    assert_eq!(simulations.as_slice(), &all[1..2]);
    assert_eq!(records(&team, "invocation_source_type=regular-conversation&origin=direct"), &all[..1]);
    let sorted = records(&team, "sort_by=-invocation_source.type&sort_by=%2Btool_id&sort_by=-version.major");
    assert_eq!(sorted, [simulated.clone(), branch.clone(), direct.clone()]);
}

fn accepted(tool: &Tool<'_>, parameters: &Value) -> Answer {
    let request = tool.invoke_request(&json!({"inputs": [input(parameters)]}));
    let answer = request.header("prefer", "respond-async").send();
    answer.expect(202);
    answer
}

#[test]
fn a_run_is_found_while_it_runs_and_cancelled() {
    let team = Team::new();
    let tool = team
        .tool("endless")
        .body("send_status_event('begun')\nwhile True: pass")
        .manifest("timeout_seconds = 300")
        .published();
    let operation = accepted(&tool, &json!({})).json();
    assert!(records(&team, "").is_empty(), "only runs that have ended");
    let running = eventually("a running run", || records(&team, "state=running").into_iter().next());
    assert_eq!((&running["invocation_status"], &running["origin"]), (&Value::Null, &json!("direct")));
    let run = running["id"].as_str().expect("an id");

    let path = format!("/tool/invocation/{run}/cancel");
    let auditor = team.joined_by("auditor", "auditor");
    auditor.post(&path, &json!({})).expect(403);
    Team::on(&team.server).post(&path, &json!({})).expect(404);
    let caller = team.joined_by("bob", "invoker");
    caller.post(&path, &json!({})).expect(204);
    let record = eventually("the end of the run", || records(&team, "").into_iter().next());
    let status = &record["invocation_status"];
    assert_eq!(
        (&status["exception_type"], &status["exception_message"]),
        (&json!("cancelled"), &json!("cancelled by bob"))
    );
    let again = caller.post(&path, &json!({}));
    assert_eq!((again.status, again.code()), (409, "run_ended".into()));
    team.post(&format!("/tool/invocation/{}/cancel", "f".repeat(24)), &json!({})).expect(404);

    let ended = eventually("the operation's end", || {
        let found = team.get(&format!("/operation/{}", operation["id"].as_str().expect("an id")));
        (found["status"] != "running").then_some(found)
    });
    assert_eq!(ended["result"]["invocation_results"][0]["exception_type"], "cancelled");
}

#[test]
fn the_command_pages_filters_and_searches() {
    let team = Team::new();
    let tool = team.tool("pages").body("return f\"{tool_input['word']} is done\"").published();
    let words: Vec<Value> = (0..10).map(|number| input(&json!({"word": format!("word{number}")}))).collect();
    (0..13).for_each(|_| drop(tool.invoke_inputs(&json!({"inputs": words}))));
    tool.invoke(json!({"word": "東京都へ行く"}));
    let listed = |arguments: &[&str]| {
        let arguments = [&["--json", "history"], arguments].concat();
        let document = team.lathe().run(&arguments).ok().document();
        (document["tool_invocations"].as_array().expect("a list").len(), document["has_more"] == true)
    };
    assert_eq!(listed(&["list"]), (20, true));
    assert_eq!(listed(&["list", "--limit", "120"]), (120, true));
    assert_eq!(listed(&["list", "--all"]), (131, false));
    assert_eq!(listed(&["list", "--all", "--since", "2h", "--user", &team.user]), (131, false));
    assert_eq!(listed(&["list", "--since", "2999-01-01"]), (0, false));
    assert_eq!(listed(&["list", "--before", "1d"]), (0, false));
    assert_eq!(listed(&["list", "--user", "nobody"]), (0, false));
    assert_eq!(listed(&["list", "--state", "running"]), (0, false));
    assert_eq!(listed(&["list", "--origin", "branch-test"]), (0, false));
    assert_eq!(listed(&["search", "word7"]), (13, false));
    assert_eq!(listed(&["search", "wor*", "--limit", "5"]), (5, true));
    assert_eq!(listed(&["search", "wor*", "--all"]), (130, false));
    assert_eq!(listed(&["search", "東京"]), (1, false));
    assert_eq!(listed(&["search", "行く", "--in", "inputs"]), (1, false));
    assert_eq!(listed(&["search", "done", "--in", "inputs"]), (0, false));
    let shown = team.lathe().run(&["history", "list", "--limit", "3"]).ok();
    assert!(shown.stderr.contains("--limit COUNT or --all"), "{shown:?}");
}
