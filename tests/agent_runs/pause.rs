//! `__pause_for_human__`, and answers of people.

use serde_json::{Value, json};

use super::runs::{AGENT, Runs, TOOL, agent, id, options};
use crate::harness::{ModelEndpoint, Reply, Server, Team};

fn pause(question: &Value) -> Reply {
    Reply::call("__pause_for_human__", question.clone())
}

#[test]
fn s1_030_to_033_035_037_and_039_to_041_a_run_waits_for_a_person() {
    let runs = Runs::shared();
    let question = json!({
        "question": "Which John Smith?", "options": ["C-001", "C-047"], "context_summary": "A refund.", "urgency": "medium",
    });
    let tools = [TOOL, "__pause_for_human__", "__complete__"];
    let replies = vec![pause(&question), Reply::call(TOOL, json!({"what": "C-001"})), Reply::complete("refunded")];
    let paused = runs.execute("s1_030", &tools, replies);
    assert_eq!((&paused["status"], &paused["question"]), (&json!("paused"), &question));
    assert_eq!(runs.status(&paused)["question"], question);
    let answer = json!({"human_input": "Use C-001.", "approved": true});
    let resumed = runs.resume(&paused, &answer).expect(200);
    assert_eq!((&resumed["status"], &resumed["final_answer"]), (&json!("completed"), &json!("refunded")));
    assert_eq!((&resumed["question"], &resumed["iterations"]), (&json!(null), &json!(3)));
    let second = &runs.model.received("s1_030")[1].body["messages"];
    let told = second.as_array().and_then(|messages| messages.last()).expect("a message");
    assert_eq!((&told["role"], &told["tool_call_id"]), (&json!("tool"), &second[1]["tool_calls"][0]["id"]));
    assert_eq!(serde_json::from_str::<Value>(told["content"].as_str().expect("a text")).expect("JSON"), answer);
}

#[test]
fn s1_030_to_033_wrong_questions_are_told_to_the_model() {
    let runs = Runs::shared();
    let wrong = [json!({}), json!({"question": "x", "urgency": "extreme"}), json!({"question": "x", "options": "y"})];
    let replies = wrong.iter().map(pause).chain([Reply::complete("done")]).collect();
    let run = runs.execute("s1_033", &["__pause_for_human__", "__complete__"], replies);
    let success: Vec<_> = runs.trace(&run).iter().map(|step| step["success"].clone()).collect();
    assert_eq!(
        (&run["status"], success),
        (&json!("completed"), vec![json!(false), json!(false), json!(false), json!(true)])
    );
}

#[test]
fn s1_043_the_first_answer_counts() {
    let runs = Runs::shared();
    let replies = vec![pause(&json!({"question": "Go on?"})), Reply::complete("went on")];
    let paused = runs.execute("s1_043", &["__pause_for_human__", "__complete__"], replies);
    let statuses: Vec<_> = std::thread::scope(|scope| {
        let answers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| runs.resume(&paused, &json!({"approved": true})))).collect();
        answers.into_iter().map(|answer| answer.join().expect("an answer").status).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 3, "{statuses:?}");
    assert_eq!(runs.resume(&paused, &json!({"approved": true})).code(), "run_not_paused");
    assert_eq!(runs.resume(&paused, &json!({})).status, 422);
}

#[test]
fn s1_038_and_044_another_organization_does_not_know_the_run() {
    let runs = Runs::shared();
    let replies = vec![pause(&json!({"question": "Go on?"})), Reply::complete("went on")];
    let paused = runs.execute("s1_044", &["__pause_for_human__", "__complete__"], replies);
    let path = format!("/agents/{}/resume", id(&paused));
    let answer = |team: &Team, organization: &str| {
        let request = team.server.request("POST", &path).bearer(&team.token).header("x-org-id", organization);
        request.json(&json!({"approved": false})).send().status
    };
    let stranger = Team::on(&runs.team.server);
    assert_eq!(answer(&stranger, &stranger.organization), 404);
    assert_eq!(answer(&runs.team, &stranger.organization), 403);
    assert_eq!(answer(&runs.team, &runs.team.organization), 200);
}

/// The server is killed while the run waits, and the memory of the run is kept.
#[test]
fn s1_034_042_and_053_a_paused_run_outlives_its_server() {
    let model = ModelEndpoint::serve();
    let server = Server::private(&options(&model));
    let team = Team::on(&server);
    agent(&team);
    let runs = Runs { team, model };
    let replies = vec![
        Reply::call("__store_memory__", json!({"key": "customer", "value": "C-001"})),
        pause(&json!({"question": "Go on?"})),
        Reply::call("__retrieve_memory__", json!({"key": "customer"})),
        Reply::complete("went on"),
    ];
    let tools = ["__store_memory__", "__retrieve_memory__", "__pause_for_human__", "__complete__"];
    let paused = runs.execute("s1_042", &tools, replies);
    assert_eq!((&paused["status"], AGENT), (&json!("paused"), "clerk"));
    server.kill();
    let Runs { team, model } = runs;
    let runs = Runs { team: team.moved_to(server.restarted(|_| {})), model };
    assert_eq!(runs.status(&paused), paused);
    let resumed = runs.resume(&paused, &json!({"approved": true})).expect(200);
    assert_eq!((&resumed["status"], &resumed["iterations"]), (&json!("completed"), &json!(4)));
    let kept: Value = serde_json::from_str(&runs.last_observation("s1_042")).expect("JSON");
    assert_eq!((&kept["found"], &kept["value"]), (&json!(true), &json!("C-001")));
}

#[test]
fn calls_after_a_question_are_made_after_its_answer() {
    let runs = Runs::shared();
    let question = ("__pause_for_human__".to_owned(), json!({"question": "Go on?"}));
    let replies =
        vec![Reply::Calls(vec![question, (TOOL.to_owned(), json!({"what": "next"}))]), Reply::complete("done")];
    let paused = runs.execute("several", &[TOOL, "__pause_for_human__", "__complete__"], replies);
    assert_eq!((&paused["status"], runs.trace(&paused).len()), (&json!("paused"), 1));
    let resumed = runs.resume(&paused, &json!({"human_input": "Yes."})).expect(200);
    assert_eq!((&resumed["status"], &resumed["iterations"]), (&json!("completed"), &json!(2)));
    let messages = runs.model.received("several")[1].body["messages"].clone();
    let results: Vec<_> =
        messages.as_array().expect("messages").iter().filter(|message| message["role"] == "tool").collect();
    assert!(results[0]["content"].as_str().is_some_and(|text| text.contains("Yes.")), "{messages}");
    assert_eq!((&results[1]["content"], results.len()), (&json!("found next"), 2));
}

/// The server asks, not the model: the calls that are left have a result, and the answer is none of theirs.
#[test]
fn the_answer_to_a_run_that_is_stuck_is_no_result_of_a_call() {
    let runs = Runs::shared();
    let call = |what: &str| (TOOL.to_owned(), json!({"what": what}));
    let stuck = json!({"iterations": 2, "action": "escalate"});
    let paused = runs.execute_with(
        json!({"objective": "left", "tools": [TOOL, "__complete__"], "on_stuck": stuck}),
        vec![Reply::Calls(vec![call("a"), call("a"), call("b")]), Reply::complete("done")],
    );
    assert_eq!((&paused["status"], runs.trace(&paused).len()), (&json!("paused"), 2));
    let resumed = runs.resume(&paused, &json!({"human_input": "Stop."})).expect(200);
    assert_eq!(resumed["status"], "completed");
    let messages = runs.model.received("left")[1].body["messages"].as_array().cloned().expect("messages");
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().expect("a role")).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "tool", "user"]);
    assert_eq!(messages[4]["content"], "not made");
    assert!(messages[5]["content"].as_str().is_some_and(|text| text.contains("Stop.")), "{messages:?}");
}
