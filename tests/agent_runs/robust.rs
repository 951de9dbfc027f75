//! Runs beside what goes wrong: clients that go away, repeated requests, a database that is busy, rights that end.

use serde_json::{Value, json};

use super::runs::{AGENT, Runs, TOOL, agent, id, options};
use crate::harness::{Latch, Locked, ModelEndpoint, Reply, Server, Team, eventually};

fn body(objective: &str) -> Value {
    json!({"agent": AGENT, "objective": objective, "tools": [TOOL, "__complete__"]})
}

#[test]
fn a_repeated_request_gets_the_run_of_the_first() {
    let runs = Runs::shared();
    runs.model.answers("repeated", vec![Reply::complete("once")]);
    let server = &runs.team.server;
    let keyed = |body: &Value, query: &str| {
        let request = server.request("POST", &format!("/agents/execute{query}")).bearer(&runs.team.token);
        request.header("idempotency-key", "repeated-run").json(body).send()
    };
    let first = keyed(&body("repeated"), "").expect(200);
    for query in ["", "?async=true"] {
        let again = keyed(&body("repeated"), query);
        assert_eq!((again.status, again.json()["agent_run_id"] == first["agent_run_id"]), (200, true), "{again}");
    }
    assert_eq!(runs.model.received("repeated").len(), 1);
    let other = keyed(&body("another"), "");
    assert_eq!((other.status, other.code().as_str()), (422, "request_invalid"), "{other}");
}

/// The response to a request whose run is cancelled meanwhile says so.
#[test]
fn a_cancelled_run_is_answered_as_cancelled() {
    let runs = Runs::shared();
    let latch = Latch::default();
    runs.model.answers("to be cancelled", vec![Reply::Held(latch.clone(), Box::new(Reply::complete("too late")))]);
    let send = || {
        let request = runs.team.server.request("POST", "/agents/execute").bearer(&runs.team.token);
        request.header("idempotency-key", "to-be-cancelled").json(&body("to be cancelled")).send()
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(send);
        latch.is_reached_by(1);
        let run = send();
        let cancelled = runs.post(&format!("/agents/{}/cancel", id(&run.json())), &json!({}));
        latch.open();
        assert_eq!((run.status, cancelled.status), (202, 204), "{run}");
        let answered = waiting.join().expect("an answer");
        assert_eq!((answered.status, &answered.json()["status"]), (200, &json!("cancelled")), "{answered}");
    });
}

/// A checkpoint that cannot be written ends the work, and the run goes on when the database does.
#[test]
fn a_run_goes_on_after_a_busy_database() {
    let model = ModelEndpoint::serve();
    let server = Server::private(&options(&model));
    let team = Team::on(&server);
    agent(&team);
    let runs = Runs { team, model };
    let latch = Latch::default();
    let call = Reply::call(TOOL, json!({"what": "x"}));
    runs.model.answers("busy", vec![Reply::Held(latch.clone(), Box::new(call.clone())), call, Reply::complete("done")]);
    let run = runs.post("/agents/execute?async=true", &body("busy")).expect(202);
    latch.is_reached_by(1);
    let locked = Locked::take(server.data());
    latch.open();
    eventually("the failed checkpoint", || (!server.log_about("another attempt follows").is_empty()).then_some(()));
    drop(locked);
    let ended = runs.becomes(&run, "completed");
    assert_eq!((&ended["final_answer"], &ended["iterations"]), (&json!("done"), &json!(2)));
}

#[test]
fn an_administrator_answers_for_the_user() {
    let runs = Runs::shared();
    let question = Reply::call("__pause_for_human__", json!({"question": "Go on?"}));
    let paused =
        runs.execute("asks", &["__pause_for_human__", "__complete__"], vec![question, Reply::complete("went on")]);
    let admin = runs.team.joined_by("erik", "admin");
    let path = format!("/agents/{}/resume", id(&paused));
    let request = admin.server.request("POST", &path).bearer(&admin.token).json(&json!({"approved": true}));
    assert_eq!(request.send().expect(200)["final_answer"], "went on");
}

#[test]
fn a_run_ends_with_its_agent() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let created = lathe.json(&[
        "agent",
        "create",
        "gone",
        "--type",
        "agent",
        "--scope",
        "organization",
        "--description",
        "Goes.",
    ]);
    lathe.ok(&["agent", "deploy", "gone"]);
    let question = Reply::call("__pause_for_human__", json!({"question": "Go on?"}));
    runs.model.answers("without agent", vec![question]);
    let asked = json!({"agent": "gone", "objective": "without agent", "tools": ["__pause_for_human__"]});
    let keyed = || {
        let request = runs.team.server.request("POST", "/agents/execute").bearer(&runs.team.token);
        request.header("idempotency-key", "without-agent").json(&asked).send()
    };
    let paused = keyed().expect(200);
    runs.team.delete(&format!("/agent/{}", created["id"].as_str().expect("an id"))).expect(204);
    assert_eq!(runs.resume(&paused, &json!({"approved": true})).code(), "run_not_paused");
    let path = format!("/human_request/{}", paused["human_request_id"].as_str().expect("a request"));
    assert_eq!(runs.team.get(&path)["status"], "cancelled");
    let again = keyed().expect(200);
    assert_eq!(again["agent_run_id"], paused["agent_run_id"], "the key names the run, although the agent is gone");
    assert_eq!(again["status"], "cancelled");
}

#[test]
fn s1_029_a_cycle_of_runs_ends() {
    let runs = Runs::shared();
    let request = runs.team.server.request("POST", "/agents/execute").bearer(&runs.team.token);
    let refused = request.header("lathe-depth", "4").json(&body("cycle")).send();
    assert_eq!((refused.status, refused.code().as_str()), (400, "loop_detected"), "{refused}");
}
