//! Requests of runs to people: one queue of questions, approvals of calls, and forms of tools.

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::runs::{Runs, TOOL, id};
use crate::harness::{Answer, Reply, Team};
use crate::mcp::client::Gateway;
use crate::mcp::questions::{asking, greeter};

const PAUSE: &str = "__pause_for_human__";
const ALL: [&str; 2] = [PAUSE, "__complete__"];

/// The tests push to the branch of one team.
static PUSHES: Mutex<()> = Mutex::new(());

fn pause(question: &str, urgency: &str) -> Reply {
    Reply::call(PAUSE, json!({"question": question, "urgency": urgency}))
}

/// Publishes a tool, and runs an agent of the shared server that has it.
fn with_agent<'a>(
    runs: &'a Runs,
    slug: &'a str,
    tool: &'a str,
    publish: impl FnOnce(&Team),
) -> impl Fn(&str, Vec<Reply>) -> Value + 'a {
    let pushing = PUSHES.lock();
    publish(&runs.team);
    drop(pushing);
    Gateway::of_type(&runs.team, slug, "agent").with(&[tool]);
    move |objective, replies| {
        runs.execute_with(json!({"agent": slug, "objective": objective, "tools": [tool, "__complete__"]}), replies)
    }
}

impl Runs {
    /// The open request of a paused run.
    fn request(&self, run: &Value) -> Value {
        self.team
            .get(&format!("/human_request/{}", run["human_request_id"].as_str().unwrap_or_else(|| panic!("{run}"))))
    }

    fn answer(&self, request: &Value, body: &Value) -> Answer {
        let id = request["human_request_id"].as_str().expect("an id");
        self.team.post(&format!("/human_request/{id}/answer"), body)
    }

    /// The ids of the requests of a list.
    fn listed(&self, query: &str) -> Vec<Value> {
        let found = self.team.get(&format!("/human_request?{query}"))["human_requests"].clone();
        found.as_array().expect("a list").iter().map(|request| request["human_request_id"].clone()).collect()
    }
}

#[test]
fn s1_036_a_question_is_in_the_queue_until_it_is_answered() {
    let runs = Runs::shared();
    let paused = runs.execute("s1_036", &ALL, vec![pause("Which one?", "high"), Reply::complete("done")]);
    let request = runs.request(&paused);
    assert_eq!((&request["kind"], &request["status"]), (&json!("question"), &json!("open")));
    assert_eq!((&request["question"], &request["urgency"]), (&json!("Which one?"), &json!("high")));
    assert_eq!(request["agent_run_id"], paused["agent_run_id"]);
    let of_run = format!("agent_run_id={}", id(&paused));
    assert_eq!(runs.listed(&of_run), [request["human_request_id"].clone()]);
    let listed = runs.team.get("/agent_run?status=paused&limit=200")["agent_runs"].as_array().cloned().expect("runs");
    let own = listed.iter().find(|run| run["agent_run_id"] == paused["agent_run_id"]).expect("the run");
    assert_eq!((&own["objective"], &own["kind"]), (&json!("s1_036"), &json!("agent")));
    let refused = runs.answer(&request, &json!({"forms": {}}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "human_response"), "{refused}");
    let done = runs.answer(&request, &json!({"human_input": "The first."})).expect(200);
    assert_eq!((&done["status"], &done["human_request_id"]), (&json!("completed"), &json!(null)));
    assert!(runs.last_observation("s1_036").contains("The first."));
    let answered = runs.team.get(&format!("/human_request/{}", request["human_request_id"].as_str().expect("an id")));
    assert_eq!((&answered["status"], &answered["response"]["human_input"]), (&json!("answered"), &json!("The first.")));
    assert_eq!((runs.listed(&of_run).len(), runs.listed(&format!("{of_run}&status=any")).len()), (0, 1));
}

/// An answer is refused when the run was answered before, by the same way or by another one.
#[test]
fn the_first_answer_counts_by_whatever_way_it_comes() {
    let runs = Runs::shared();
    let replies = || vec![pause("Go on?", "low"), Reply::complete("done")];
    let yes = json!({"approved": true});
    let paused = runs.execute("by run", &ALL, replies());
    let request = runs.request(&paused);
    runs.resume(&paused, &yes).expect(200);
    let late = runs.answer(&request, &yes);
    assert_eq!((late.status, late.code().as_str()), (409, "human_request_closed"), "{late}");
    let paused = runs.execute("by request", &ALL, replies());
    runs.answer(&runs.request(&paused), &yes).expect(200);
    let late = runs.resume(&paused, &yes);
    assert_eq!((late.status, late.code().as_str()), (409, "run_not_paused"), "{late}");
    let paused = runs.execute("cancelled", &ALL, replies());
    let request = runs.request(&paused);
    assert_eq!(runs.post(&format!("/agents/{}/cancel", id(&paused)), &json!({})).status, 204);
    assert_eq!(runs.answer(&request, &yes).code(), "human_request_closed");
}

#[test]
fn requests_are_those_of_the_users_own_runs() {
    let runs = Runs::shared();
    let paused = runs.execute("own", &ALL, vec![pause("Go on?", "low"), Reply::complete("done")]);
    let path = format!("/human_request/{}", paused["human_request_id"].as_str().expect("a request"));
    let bob = runs.team.joined_by("bob", "auditor");
    let stranger = Team::on(&runs.team.server);
    for team in [&bob, &stranger] {
        assert_eq!(team.request("GET", &path).send().status, 404);
        assert_eq!(team.post(&format!("{path}/answer"), &json!({"approved": true})).status, 404);
        assert_eq!(team.get("/human_request?status=any")["human_requests"], json!([]));
    }
}

#[test]
fn a_call_that_needs_a_permission_waits_for_it() {
    let runs = Runs::shared();
    let body = "return f\"paid {tool_input.get('amount')}\"";
    let start = with_agent(&runs, "cashier", "pay", |team| {
        team.tool("pay").manifest("intervention = 'required'").body(body).published();
    });
    let replies = || vec![Reply::call("pay", json!({"amount": 5})), Reply::complete("done")];
    let paused = start("approved", replies());
    let request = runs.request(&paused);
    assert_eq!((&request["kind"], &request["tool"]), (&json!("approval"), &json!("pay")), "{request}");
    assert_eq!(request["question"], "Run pay with {\"amount\":5}?");
    for wrong in
        [json!({"human_input": "Yes."}), json!({"approved": true, "human_input": "Up to 10."}), json!({"forms": {}})]
    {
        assert_eq!(runs.answer(&request, &wrong).code(), "human_response", "{wrong}");
    }
    // The call may be another one by now than that which the person has seen.
    assert_eq!(runs.resume(&paused, &json!({"approved": true})).code(), "human_response");
    assert_eq!(runs.answer(&request, &json!({"approved": true})).expect(200)["status"], "completed");
    assert_eq!(runs.last_observation("approved"), "paid 5");
    let paused = start("declined", replies());
    let no = json!({"approved": false, "human_input": "Too much."});
    assert_eq!(runs.answer(&runs.request(&paused), &no).expect(200)["status"], "completed");
    let told = runs.last_observation("declined");
    assert!(told.contains("\"approved\":false") && told.contains("Too much."), "{told}");
    let steps = runs.trace(&paused);
    let success: Vec<_> = steps.iter().map(|step| step["success"] == true).collect();
    assert_eq!((success, &steps[1]["action"]), (vec![true, false, true], &json!("pay")), "{steps:?}");
    let outputs: Vec<_> =
        runs.team.history().iter().map(|record| record["invocation_status"]["output"].clone()).collect();
    assert_eq!(outputs.iter().filter(|output| **output == "paid 5").count(), 1, "{outputs:?}");
}

#[test]
fn a_person_fills_in_the_form_of_a_tool() {
    let runs = Runs::shared();
    let start = with_agent(&runs, "doorman", "greet", greeter);
    let replies = || vec![Reply::call("greet", json!({})), Reply::complete("done")];
    let paused = start("filled in", replies());
    let request = runs.request(&paused);
    assert_eq!((&request["kind"], &request["tool"]), (&json!("form"), &json!("greet")), "{request}");
    let form = &request["forms"][0];
    assert_eq!((&form["key"], &form["message"]), (&json!("name"), &json!("Your name?")));
    assert_eq!(form["schema"]["properties"]["name"]["type"], "string", "{form}");
    for wrong in
        [json!({"human_input": "Ada"}), json!({"forms": {"name": {}}}), json!({"forms": {"name": {"name": 5}}})]
    {
        let refused = runs.answer(&request, &wrong);
        assert_eq!((refused.status, refused.code().as_str()), (400, "human_response"), "{wrong}: {refused}");
    }
    let done = runs.answer(&request, &json!({"forms": {"name": {"name": "Ada"}}})).expect(200);
    assert_eq!((&done["status"], runs.last_observation("filled in").as_str()), (&json!("completed"), "accept Ada"));
    let paused = start("left empty", replies());
    runs.answer(&runs.request(&paused), &json!({"approved": false})).expect(200);
    assert_eq!(runs.last_observation("left empty"), "decline None");
}

/// A confirmation and two questions of the same call: each has a request of its own, and earlier answers are kept.
#[test]
fn a_call_asks_several_times() {
    let runs = Runs::shared();
    let ask =
        |key: &str| format!("await request_input('{key}', Form('{key}?', {{'x': {{'type': 'integer'}}}}, ['x']))");
    let body = format!("a = {}\nb = {}\nreturn str(a.content['x'] + b.content['x'])", ask("a"), ask("b"));
    let start = with_agent(&runs, "adder", "add", |team| {
        asking(team, "add", &body).manifest("intervention = 'always'").published();
    });
    let mut run = start("sums up", vec![Reply::call("add", json!({})), Reply::complete("done")]);
    let answers = [json!({"approved": true}), json!({"forms": {"a": {"x": 2}}}), json!({"forms": {"b": {"x": 3}}})];
    for (answer, kind) in answers.iter().zip(["approval", "form", "form"]) {
        let request = runs.request(&run);
        assert_eq!(request["kind"], kind, "{request}");
        run = runs.answer(&request, answer).expect(200);
    }
    assert_eq!((&run["status"], runs.last_observation("sums up").as_str()), (&json!("completed"), "5"));
}

#[test]
fn a_run_goes_on_when_nobody_answers_in_time() {
    let runs = Runs::shared();
    let body = json!({"objective": "unanswered", "tools": ALL, "human_timeout_seconds": 1});
    let paused = runs.execute_with(body, vec![pause("Go on?", "low"), Reply::complete("went on")]);
    let request = runs.request(&paused);
    runs.becomes(&paused, "completed");
    assert_eq!(runs.last_observation("unanswered"), "nobody answered in time");
    let step = runs.trace(&paused)[1].clone();
    assert_eq!((&step["action"], &step["success"]), (&json!(PAUSE), &json!(false)), "{step}");
    let late = runs.answer(&request, &json!({"approved": true}));
    assert_eq!(late.code(), "human_request_closed", "{late}");
    assert_eq!(runs.listed(&format!("status=expired&agent_run_id={}", id(&paused))).len(), 1);
    let stuck = json!({"iterations": 2, "action": "escalate"});
    let call = || Reply::call(TOOL, json!({"what": "x"}));
    let body =
        json!({"objective": "stuck, unanswered", "tools": [TOOL], "human_timeout_seconds": 1, "on_stuck": stuck});
    let paused = runs.execute_with(body, vec![call(), call()]);
    assert_eq!(runs.becomes(&paused, "failed")["error"]["code"], "stuck");
}

/// The permission for a call is none for the same call later.
#[test]
fn a_permission_is_for_one_call() {
    let runs = Runs::shared();
    let start = with_agent(&runs, "teller", "pay_out", |team| {
        let ask = "await request_input('to', Form('To whom?', {'to': {'type': 'string'}}, ['to']))";
        asking(team, "pay_out", ask).manifest("intervention = 'always'").published();
    });
    let call = ("pay_out".to_owned(), json!({"amount": 5}));
    let mut run = start("twice", vec![Reply::Calls(vec![call.clone(), call]), Reply::complete("done")]);
    for (kind, answer) in [("approval", json!({"approved": true})), ("form", json!({"approved": false}))] {
        let request = runs.request(&run);
        assert_eq!(request["kind"], kind, "{request}");
        run = runs.answer(&request, &answer).expect(200);
    }
    assert_eq!(runs.request(&run)["kind"], "approval", "of the second call");
}

/// Nobody can answer: what would be asked, is an error, and nothing waits.
#[test]
fn an_autonomous_run_asks_nobody() {
    let runs = Runs::shared();
    let _start = with_agent(&runs, "gunner", "fire", |team| {
        team.tool("fire").manifest("intervention = 'always'").body("return 'fired'").published();
    });
    let body = json!({"agent": "gunner", "objective": "autonomous", "tools": ["fire", PAUSE, "__complete__"], "autonomous": true});
    let replies = vec![pause("Go on?", "high"), Reply::call("fire", json!({})), Reply::complete("done")];
    let run = runs.execute_with(body, replies);
    let steps = runs.trace(&run);
    let told = |index: usize| steps[index]["observation"].as_str().expect("a text");
    assert_eq!((&run["status"], steps.len()), (&json!("completed"), 3), "{run}");
    assert_eq!((&steps[0]["success"], told(0)), (&json!(false), "nobody answers the questions of this run"));
    assert!(told(1).starts_with("confirmation_missing: "), "{steps:?}");
    let stuck = json!({"iterations": 2, "action": "escalate"});
    let call = || Reply::call(TOOL, json!({"what": "x"}));
    let body = json!({"objective": "autonomous, stuck", "tools": [TOOL], "autonomous": true, "on_stuck": stuck});
    let run = runs.execute_with(body, vec![call(), call()]);
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("stuck")));
}
