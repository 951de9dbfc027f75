//! Runs from their start to their end.

use serde_json::{Value, json};

use super::runs::{AGENT, Runs, TOOL, agent, id, now, time};
use crate::harness::{Latch, Reply, Team};
use crate::mcp::client::Gateway;

const CONTROL_TOOLS: [&str; 6] = [
    "__complete__",
    "__run_workflow__",
    "__pause_for_human__",
    "__store_memory__",
    "__retrieve_memory__",
    "__log_progress__",
];

/// The names of the tools in the first request of a run to its model.
fn presented(runs: &Runs, objective: &str) -> Vec<Value> {
    let request = &runs.model.received(objective)[0];
    let tools = request.body["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["function"]["name"].clone()).collect()
}

/// A sensitive variable of a user.
const PIN: &str = "very-secret-4711";

#[test]
fn s1_065_to_067_a_run_calls_a_tool_and_answers() {
    let runs = Runs::shared();
    let begin = now();
    let replies = vec![Reply::call(TOOL, json!({"what": "s1_065"})), Reply::complete("It is there.")];
    let run = runs.execute("s1_065", &[TOOL, "__complete__"], replies);
    assert_eq!(
        (&run["status"], &run["final_answer"], &run["iterations"]),
        (&json!("completed"), &json!("It is there."), &json!(2))
    );
    assert_eq!(runs.last_observation("s1_065"), "found s1_065");
    let status = runs.get(&format!("/agents/{}/status?include_trace=true", id(&run)));
    assert_eq!(status["trace"], json!(runs.trace(&run)));
    let step = &status["trace"][0];
    assert_eq!((&step["number"], &step["iteration"], &step["thought"]), (&json!(1), &json!(1), &json!("I think.")));
    assert_eq!((&step["action"], &step["action_input"]), (&json!(TOOL), &json!({"what": "s1_065"})));
    assert_eq!((&step["observation"], &step["success"]), (&json!("found s1_065"), &json!(true)));
    let record = runs.team.get(&format!("/tool/invocation/{}", step["invocation_id"].as_str().expect("an id")));
    assert_eq!((&record["origin"], &record["agent_call"]["protocol"]), (&json!("agent"), &json!("rest")), "{record}");
    let request = &runs.model.received("s1_065")[0];
    assert_eq!((request.header("authorization"), &request.body["model"]), (Some("Bearer sesame"), &json!("small")));
    assert_eq!(presented(&runs, "s1_065"), [TOOL, "__complete__"]);
    let steps = [&status["created_at"], &step["timestamp"], &status["trace"][1]["timestamp"], &status["completed_at"]];
    let times = [begin].into_iter().chain(steps.map(time)).chain([now()]);
    assert!(times.is_sorted(), "{status}");
}

#[test]
fn s1_066_a_long_observation_is_cut_in_the_trace_and_whole_for_the_model() {
    let runs = Runs::shared();
    let what = "x".repeat(3_000);
    let replies = vec![Reply::call(TOOL, json!({"what": what})), Reply::complete("done")];
    let run = runs.execute("s1_066", &[TOOL, "__complete__"], replies);
    let whole = format!("found {what}");
    let step = &runs.trace(&run)[0];
    assert_eq!((&step["success"], &step["action_input"]["what"]), (&json!(true), &json!(what)));
    assert_eq!(step["observation"], format!("{}[truncated]", &whole[..2_000]));
    assert_eq!(runs.last_observation("s1_066"), whole);
}

/// Also an agent without any other tool has them.
#[test]
fn s1_001_every_agent_has_the_six_control_tools() {
    let runs = Runs::shared();
    let team = Team::on(&runs.team.server);
    let bare = Gateway::of_type(&team, "bare", "agent").with(&[]);
    let without_families = json!({"builtInTools": {"allowedFamilies": []}});
    team.post(&format!("/agent/{}", bare.id), &without_families).expect(204);
    team.post(&format!("/agent/{}/deploy", bare.id), &json!({})).expect(200);
    for (team, agent) in [(&runs.team, AGENT), (&team, "bare")] {
        let objective = format!("s1_001 {agent}");
        runs.model.answers(&objective, vec![Reply::complete("done")]);
        let body = json!({"agent": agent, "objective": objective, "tools": CONTROL_TOOLS});
        let request = team.server.request("POST", "/agents/execute").bearer(&team.token).json(&body);
        assert_eq!(request.send().expect(200)["status"], "completed", "{agent}");
        assert_eq!(presented(&runs, &objective), CONTROL_TOOLS, "{agent}");
    }
}

#[test]
fn s1_002_and_003_a_run_has_the_tools_that_were_named() {
    let runs = Runs::shared();
    let replies = vec![
        Reply::call("__log_progress__", json!({"message": "not named"})),
        Reply::call("lathe__whoami", json!({})),
        Reply::call("no_such_tool", json!({})),
        Reply::complete("done"),
    ];
    let run = runs.execute("s1_002", &["__complete__"], replies);
    let observed: Vec<_> = runs.trace(&run).iter().map(|step| step["observation"].clone()).collect();
    let refusals =
        ["__log_progress__", "lathe__whoami", "no_such_tool"].map(|name| json!(format!("the run has no tool {name}")));
    assert_eq!(observed[..3], refusals);
    let body = json!({"agent": AGENT, "objective": "x", "tools": ["no_such_tool"]});
    let refused = runs.post("/agents/execute", &body);
    assert_eq!((refused.status, refused.code().as_str()), (400, "run_tool_unknown"), "{refused}");
}

#[test]
fn s1_004_a_model_may_write_its_calls_as_text() {
    let runs = Runs::shared();
    let step = |action: &str, input: Value| {
        Reply::Text(json!({"thought": "hm", "action": action, "action_input": input}).to_string())
    };
    let replies = vec![
        step("__log_progress__", json!({"message": "begun"})),
        step("__store_memory__", json!({"key": "a", "value": 1})),
        step("__retrieve_memory__", json!({"key": "a"})),
        step(TOOL, json!({"what": "s1_004"})),
        Reply::Text("I talk instead of calling.".to_owned()),
        step("__run_workflow__", json!({"workflow_name": TOOL, "input": {"what": "s1_004"}})),
        step("__pause_for_human__", json!({"question": "Go on?"})),
        step("__complete__", json!({"answer": "done"})),
    ];
    let run = runs.execute("s1_004", &[&CONTROL_TOOLS[..], &[TOOL]].concat(), replies);
    let question = &run["question"]["question"];
    assert_eq!((&run["status"], &run["iterations"], question), (&json!("paused"), &json!(7), &json!("Go on?")));
    let trace = runs.trace(&run);
    let success: Vec<_> = trace.iter().map(|step| step["success"].clone()).collect();
    assert_eq!(success, [true, true, true, true, false, true, true]);
    assert_eq!((&trace[3]["thought"], &trace[3]["observation"]), (&json!("hm"), &json!("found s1_004")));
    assert_eq!(trace[4]["thought"], "I talk instead of calling.");
    let workflow: Value = serde_json::from_str(trace[5]["observation"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&workflow["status"], &workflow["result"]), (&json!("completed"), &json!("found s1_004")));
    let resumed = runs.resume(&run, &json!({"approved": true})).expect(200);
    assert_eq!((&resumed["status"], &resumed["final_answer"]), (&json!("completed"), &json!("done")));
    assert_eq!(runs.trace(&run).last().expect("a step")["action"], "__complete__");
}

#[test]
fn calls_of_one_answer_are_made_one_after_the_other() {
    let runs = Runs::shared();
    let calls = ["a", "b", "c"].map(|what| (TOOL.to_owned(), json!({"what": what})));
    let run =
        runs.execute("parallel", &[TOOL, "__complete__"], vec![Reply::Calls(calls.to_vec()), Reply::complete("done")]);
    let observed: Vec<_> = runs.trace(&run).iter().map(|step| step["observation"].clone()).collect();
    assert_eq!(observed, ["found a", "found b", "found c", "completed"]);
    assert_eq!(run["iterations"], 2);
}

#[test]
fn a_failed_or_refused_call_is_told_to_the_model() {
    let runs = Runs::shared();
    let _failing = runs.team.tool("failing").body("raise ValueError('no such order')").published();
    runs.team.lathe().ok(&[
        "agent",
        "create",
        "failer",
        "--type",
        "agent",
        "--scope",
        "organization",
        "--description",
        "Fails.",
    ]);
    runs.team.lathe().ok(&["agent", "assign", "failer", "failing"]);
    runs.team.lathe().ok(&["agent", "deploy", "failer"]);
    runs.model.answers("failure", vec![Reply::call("failing", json!({})), Reply::complete("it failed")]);
    let body = json!({"agent": "failer", "objective": "failure", "tools": ["failing", "__complete__"]});
    let run = runs.post("/agents/execute", &body).expect(200);
    assert_eq!(
        (&run["status"], runs.last_observation("failure").as_str()),
        (&json!("completed"), "ValueError: no such order")
    );
}

#[test]
fn a_failed_or_refused_call_of_the_library_is_an_envelope() {
    let runs = Runs::shared();
    Gateway::of_type(&runs.team, "librarian", "agent").with(&[]);
    let replies = vec![
        Reply::call("memory_get", json!({"memory_id": "nothing"})),
        Reply::call("memory_create", json!({"content": 1})),
        Reply::complete("no memory"),
    ];
    let tools = ["memory_get", "memory_create", "__complete__"];
    let run = runs.execute_with(json!({"agent": "librarian", "objective": "envelopes", "tools": tools}), replies);
    assert_eq!((&run["status"], &run["final_answer"]), (&json!("completed"), &json!("no memory")));
    let trace = runs.trace(&run);
    assert_eq!((&trace[0]["success"], &trace[1]["success"]), (&json!(false), &json!(false)));
    let observed = |step: usize| -> Value {
        serde_json::from_str(trace[step]["observation"].as_str().expect("a text")).expect("an envelope")
    };
    let missing = json!({"code": "not_found", "status": 404, "message": "memory not found"});
    assert_eq!(observed(0), json!({"success": false, "error": missing}));
    let invalid = observed(1)["error"].take();
    assert_eq!((&invalid["code"], &invalid["status"]), (&json!("input_schema"), &json!(400)), "{invalid}");
    assert_eq!(invalid["details"][0]["field"], "/content", "{invalid}");
    let told: Value = serde_json::from_str(&runs.last_observation("envelopes")).expect("an envelope");
    assert_eq!(told, observed(1));
}

#[test]
fn the_model_is_told_when_to_use_its_tools_of_the_library() {
    let runs = Runs::shared();
    Gateway::of_type(&runs.team, "reader", "agent").with(&[]);
    let body = json!({"agent": "reader", "objective": "instructed", "tools": ["prompt_get", "__complete__"]});
    runs.execute_with(body, vec![Reply::complete("done")]);
    let first = runs.model.received("instructed")[0].body["messages"][0].clone();
    let system = first["content"].as_str().unwrap_or_default();
    assert_eq!(first["role"], "system", "{first}");
    assert!(system.starts_with("## prompts\n") && system.contains("- prompt_get: "), "{system}");
    assert!(!system.contains("prompt_list") && !system.contains("## memory"), "{system}");
}

#[test]
fn the_model_reads_texts_of_content_blocks_and_names_of_others() {
    let runs = Runs::shared();
    let body = "
        from amigo_tool_scaffold import content
        if tool_input.get('paints'):
            content.add_text('a note')
            content.add_image(bytes([0]), 'image/png')
        return ''
    ";
    let _tool = runs.team.tool("paint").body(body).published();
    Gateway::of_type(&runs.team, "painter", "agent").with(&["paint"]);
    let replies = vec![
        Reply::call("paint", json!({})),
        Reply::call("paint", json!({"paints": true})),
        Reply::complete("painted"),
    ];
    let run = json!({"agent": "painter", "objective": "content", "tools": ["paint", "__complete__"]});
    let trace = runs.trace(&runs.execute_with(run, replies));
    assert_eq!(trace[0]["observation"], "(empty)");
    assert_eq!(trace[1]["observation"], "a note\n[image image/png]");
    assert_eq!(runs.last_observation("content"), "a note\n[image image/png]");
}

#[test]
fn steps_do_not_show_the_secrets_of_the_user() {
    let runs = Runs::shared();
    let user = runs.team.joined_by("erin", "admin");
    user.lathe().run_with(&["user", "variable", "set", "pin=-", "--sensitive"], PIN).ok();
    let step = json!({"thought": format!("The pin is {PIN}."), "action": TOOL, "action_input": {"what": PIN}});
    let replies = vec![
        Reply::Text(step.to_string()),
        Reply::call("__store_memory__", json!({"key": "pin", "value": PIN})),
        Reply::call("__retrieve_memory__", json!({"key": "pin"})),
        Reply::Text(format!("I only talk about {PIN}.")),
        Reply::complete("done"),
    ];
    runs.model.answers("secrets", replies);
    let tools = [TOOL, "__store_memory__", "__retrieve_memory__", "__complete__"];
    let body = json!({"agent": AGENT, "objective": "secrets", "tools": tools});
    let run = user.server.request("POST", "/agents/execute").bearer(&user.token).json(&body).send().expect(200);
    assert_eq!(run["status"], "completed", "{run}");
    let path = format!("/agents/{}/trace", id(&run));
    let trace = user.server.request("GET", &path).bearer(&user.token).send().expect(200)["trace"].take();
    assert!(!trace.to_string().contains(PIN), "{trace}");
    assert_eq!(
        (&trace[0]["thought"], &trace[0]["action_input"]),
        (&json!("The pin is [redacted]."), &json!({"what": "[redacted]"}))
    );
    assert_eq!(
        (&trace[0]["observation"], trace[4]["action"].as_str()),
        (&json!("found [redacted]"), Some("__complete__"))
    );
    let read = runs.last_observation("secrets");
    assert!(read.contains(PIN), "the model reads what it stored: {read}");
}

#[test]
fn s1_065_a_run_in_the_background_is_cancelled() {
    let runs = Runs::shared();
    let latch = Latch::default();
    runs.model.answers("background", vec![Reply::Held(latch.clone(), Box::new(Reply::complete("too late")))]);
    let body = json!({"agent": AGENT, "objective": "background", "tools": ["__complete__"]});
    let run = runs.post("/agents/execute?async=true", &body).expect(202);
    assert_eq!(run["status"], "running");
    latch.is_reached_by(1);
    let cancel = || runs.post(&format!("/agents/{}/cancel", id(&run)), &json!({})).status;
    assert_eq!((cancel(), cancel()), (204, 409));
    latch.open();
    let status = runs.status(&run);
    assert_eq!((&status["status"], &status["final_answer"]), (&json!("cancelled"), &json!(null)));
    assert!(status["completed_at"].is_string());
}

#[test]
fn s1_068_a_run_that_is_stuck_fails_asks_or_gets_a_hint() {
    let runs = Runs::shared();
    let again = || vec![Reply::call(TOOL, json!({"what": "again"}))];
    let body = |objective: &str, on_stuck: Value| json!({"objective": objective, "tools": [TOOL, "__complete__"], "on_stuck": on_stuck});
    let failed = runs.execute("stuck", &[TOOL], again());
    assert_eq!((&failed["error"]["code"], &failed["iterations"]), (&json!("stuck"), &json!(3)));
    let asked = runs.execute_with(body("escalates", json!({"iterations": 2, "action": "escalate"})), again());
    assert_eq!((&asked["status"], &asked["iterations"]), (&json!("paused"), &json!(2)));
    assert!(asked["question"]["question"].as_str().is_some_and(|question| question.contains("stuck")));
    runs.model.answers("escalates", vec![Reply::complete("as you say")]);
    let resumed = runs.resume(&asked, &json!({"human_input": "Give up."})).expect(200);
    assert_eq!(resumed["final_answer"], "as you say");
    let hinted =
        runs.execute_with(body("hinted", json!({"action": "retry_with_hint", "hint": "Look elsewhere."})), again());
    assert_eq!((&hinted["error"]["code"], &hinted["iterations"]), (&json!("stuck"), &json!(6)));
    let told = runs.model.received("hinted");
    assert!(told.last().expect("a request").body["messages"].to_string().contains("Look elsewhere."));
}

#[test]
fn wrong_requests_are_refused() {
    let runs = Runs::shared();
    let right = json!({"agent": AGENT, "objective": "x", "tools": ["__complete__"]});
    for (name, value) in [
        ("objective", json!("")),
        ("tools", json!([])),
        ("max_iterations", json!(0)),
        ("max_tokens", json!(0)),
        ("on_stuck", json!({"action": "panic"})),
        ("context", json!([])),
    ] {
        let mut body = right.clone();
        body[name] = value;
        let refused = runs.post("/agents/execute", &body);
        assert_eq!(refused.status, 422, "{name}: {refused}");
        assert!(refused.json()["detail"].to_string().contains(name), "{refused}");
    }
    let unknown = json!({"agent": "nobody", "objective": "x", "tools": ["__complete__"]});
    assert_eq!(runs.post("/agents/execute", &unknown).status, 404);
    let nothing = "6ab13d50a3c20f6f6e5d4c3b";
    assert_eq!(runs.post(&format!("/agents/{nothing}/resume"), &json!({"approved": true})).status, 404);
    assert_eq!(runs.post(&format!("/agents/{nothing}/cancel"), &json!({})).status, 404);
}

#[test]
fn a_server_without_a_model_says_what_it_lacks() {
    let team = Team::new();
    agent(&team);
    let body = json!({"agent": AGENT, "objective": "x", "tools": ["__complete__"]});
    let refused = team.server.request("POST", "/agents/execute").bearer(&team.token).json(&body).send();
    assert_eq!((refused.status, refused.code().as_str()), (503, "model_missing"), "{refused}");
}

#[test]
fn a_run_is_seen_by_its_user_and_by_administrators() {
    let runs = Runs::shared();
    let run = runs.execute("private", &["__complete__"], vec![Reply::complete("mine")]);
    let path = format!("/agents/{}/status", id(&run));
    let other = runs.team.joined_by("carl", "auditor");
    let stranger = Team::on(&runs.team.server);
    for team in [&other, &stranger] {
        assert_eq!(team.server.request("GET", &path).bearer(&team.token).send().status, 404);
    }
    let admin = runs.team.joined_by("dora", "admin");
    assert_eq!(admin.server.request("GET", &path).bearer(&admin.token).send().status, 200);
}

#[test]
fn each_call_of_an_answer_has_a_result_also_one_that_is_not_made() {
    let runs = Runs::shared();
    let objective = "forty calls";
    let calls = (0..40).map(|number| (TOOL.to_owned(), json!({"what": number}))).collect();
    let run = runs.execute(objective, &[TOOL, "__complete__"], vec![Reply::Calls(calls), Reply::complete("done")]);
    assert_eq!(run["status"], "completed", "{run}");
    let messages = runs.model.received(objective)[1].body["messages"].clone();
    let messages = messages.as_array().expect("messages");
    let asked = messages.iter().find_map(|message| message["tool_calls"].as_array()).expect("calls");
    let result = |call: &Value| {
        let of_call = |message: &&Value| message["tool_call_id"] == call["id"];
        messages.iter().find(of_call).unwrap_or_else(|| panic!("{call} has no result"))["content"]
            .as_str()
            .expect("a text")
    };
    let results: Vec<&str> = asked.iter().map(result).collect();
    assert_eq!((results.len(), results[0], results[31]), (40, "found 0", "found 31"));
    assert!(results[32..].iter().all(|text| text.starts_with("not made: at most 32 calls")), "{results:?}");
    let trace = runs.trace(&run);
    let refused = trace.iter().filter(|step| step["success"] == false && step["action"] == TOOL);
    assert_eq!((trace.len(), refused.count()), (41, 8));

    let calls = (0..257).map(|number| (TOOL.to_owned(), json!({"what": number}))).collect();
    let run = runs.execute("too many calls", &[TOOL, "__complete__"], vec![Reply::Calls(calls)]);
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("too_many_calls")), "{run}");
}

#[test]
fn calls_after_the_end_of_a_run_are_steps() {
    let runs = Runs::shared();
    let calls = [("__complete__", json!({"answer": "done"})), (TOOL, json!({"what": "late"}))];
    let calls = calls.map(|(name, input)| (name.to_owned(), input)).to_vec();
    let run = runs.execute("late calls", &[TOOL, "__complete__"], vec![Reply::Calls(calls)]);
    let trace = runs.trace(&run);
    assert_eq!((&run["status"], trace.len()), (&json!("completed"), 2), "{trace:?}");
    assert_eq!((&trace[1]["action"], &trace[1]["success"]), (&json!(TOOL), &json!(false)));
    assert_eq!(trace[1]["observation"], "not made: the run was completed before");
}
