//! Tasks that are due, and the runs that work on them.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::runtime::Runtime;

use super::runs::{AGENT, Runs, agent, now, options, time};
use crate::harness::{Latch, ModelEndpoint, Nodes, Reply, Server, Team, eventually};
use crate::mcp::client::Gateway;

/// Tasks of two servers.
const TASKS: usize = 12;

/// Creates a task of the agent that is due soon, and returns its id.
fn create(team: &Team, description: &str, ahead: u64) -> String {
    let created = created(team, json!({"description": description, "due_at": in_seconds(ahead)}));
    created["task_id"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned()
}

/// Creates a task of the agent.
fn created(team: &Team, task: Value) -> Value {
    let found = team.get(&format!("/agent?slug={AGENT}"));
    let id = found["agents"][0]["id"].as_str().expect("an id").to_owned();
    let gateway = Gateway { team, slug: AGENT.to_owned(), id };
    gateway.call("task_create", task)["structuredContent"]["data"].take()
}

fn in_seconds(ahead: u64) -> String {
    now().after(Duration::from_secs(ahead)).to_string()
}

fn count_runs(database: &str) -> usize {
    let runtime = Runtime::new().expect("a runtime");
    let count: i64 = runtime.block_on(async {
        let mut connection = PgConnection::connect(database).await.expect("a connection");
        sqlx::query_scalar("SELECT count(*) FROM agent_runs").fetch_one(&mut connection).await.expect("a number")
    });
    usize::try_from(count).expect("a number")
}

fn task(runs: &Runs, id: &str) -> Value {
    runs.get(&format!("/api/v1/tasks/{id}"))["data"].clone()
}

#[test]
fn s0_014_a_due_task_is_worked_on_by_its_agent() {
    let runs = Runs::shared();
    let id = create(&runs.team, "Write the report.", 4);
    let done = Reply::call("task_complete", json!({"task_id": id, "result": "written"}));
    runs.model.answers(&format!("The task {id}"), vec![done, Reply::complete("done")]);
    let done = eventually("the end of the task", || Some(task(&runs, &id)).filter(|task| task["status"] == "done"));
    let occurrence = &done["fire_history"][0];
    assert_eq!((&occurrence["result"], &done["fire_count"]), (&json!("written"), &json!(1)));
    let run = runs.becomes(&json!({"agent_run_id": occurrence["agent_run_id"]}), "completed");
    assert!(run["objective"].as_str().is_some_and(|text| text.contains("Write the report.")), "{run}");
    let other = runs.post("/api/v1/tasks", &json!({"description": "Of the user.", "due_at": "2020-01-01T00:00:00Z"}));
    let id = other.expect(201)["data"]["task_id"].as_str().expect("an id").to_owned();
    let fired = eventually("the other task", || Some(task(&runs, &id)).filter(|task| task["status"] == "fired"));
    assert_eq!(fired["fire_history"][0]["agent_run_id"], Value::Null, "no agent created it");
}

/// The task is due in the minute after the next seconds.
#[test]
fn s0_014_an_occurrence_of_a_cron_task_is_worked_on_and_completed() {
    let runs = Runs::shared();
    let every_minute = json!({"description": "Look at the queue.", "cron": "* * * * *", "due_at": in_seconds(4)});
    let created = created(&runs.team, every_minute);
    let id = created["task_id"].as_str().expect("an id");
    let done = Reply::call("task_complete", json!({"task_id": id, "result": "looked"}));
    runs.model.answers(&format!("The task {id}"), vec![done, Reply::complete("done")]);
    let due_at = time(&created["due_at"]).as_milliseconds();
    assert_eq!(due_at % 60_000, 0, "{created}");
    sleep(Duration::from_millis(u64::try_from(due_at - now().as_milliseconds()).unwrap_or_default()));
    let is_done = |task: &Value| task["fire_history"][0]["status"] == "done";
    let worked = eventually("the end of the occurrence", || Some(task(&runs, id)).filter(is_done));
    let occurrence = &worked["fire_history"][0];
    assert_eq!((&occurrence["due_at"], &occurrence["result"]), (&created["due_at"], &json!("looked")));
    assert!(time(&occurrence["fired_at"]).as_milliseconds() >= due_at, "{worked}");
    assert_eq!((&worked["status"], &worked["recurrence"]), (&json!("open"), &json!("cron")));
    assert!(time(&worked["due_at"]).as_milliseconds() > due_at, "the task goes on: {worked}");
    let run = runs.becomes(&json!({"agent_run_id": occurrence["agent_run_id"]}), "completed");
    assert!(run["objective"].as_str().is_some_and(|text| text.contains("Look at the queue.")), "{run}");
    runs.post(&format!("/api/v1/tasks/{id}/end-recurrence"), &json!({})).expect(200);
}

/// The model refuses the first request of the run.
#[test]
fn s0_145_a_task_fails_with_its_run() {
    let runs = Runs::shared();
    let id = create(&runs.team, "Write what nobody can write.", 3);
    runs.model.answers(&format!("The task {id}"), vec![Reply::Refuses(400)]);
    let failed = eventually("the end of the task", || Some(task(&runs, &id)).filter(|task| task["status"] == "failed"));
    let occurrence = &failed["fire_history"][0];
    assert_eq!((&occurrence["status"], &occurrence["error_code"]), (&json!("failed"), &json!("model_refused")));
    let run = runs.becomes(&json!({"agent_run_id": occurrence["agent_run_id"]}), "failed");
    assert_eq!((&run["error"]["code"], &failed["last_run_id"]), (&occurrence["error_code"], &run["agent_run_id"]));
    let listed = runs.get("/api/v1/tasks?status=failed&limit=200")["data"]["items"].clone();
    let listed = listed.as_array().expect("items").iter().find(|task| task["task_id"] == id.as_str()).cloned();
    let listed = listed.expect("the task");
    assert_eq!(
        (&listed["last_run_status"], &listed["last_run_error_code"]),
        (&json!("failed"), &json!("model_refused"))
    );
    assert_eq!(listed["due_at"], Value::Null);
    runs.post(&format!("/api/v1/tasks/{id}/complete"), &json!({})).expect(409);
}

/// The second time of the task comes while the test waits. The model refuses what nobody has written down.
#[test]
fn s0_145_a_recurring_task_goes_on_after_a_failed_run() {
    let runs = Runs::shared();
    let start = now().before(Duration::from_hours(24)).after(Duration::from_secs(8)).to_string();
    let daily = json!({"description": "Look at the mail.", "recurrence": "daily", "due_at": start});
    let id = created(&runs.team, daily)["task_id"].as_str().expect("an id").to_owned();
    let failed =
        eventually("the failure", || Some(task(&runs, &id)).filter(|task| task["last_run_status"] == "failed"));
    assert_eq!((&failed["status"], failed["due_at"].is_string()), (&json!("open"), true), "{failed}");
    let done = Reply::call("task_complete", json!({"task_id": id, "result": "looked"}));
    runs.model.answers(&format!("The task {id}"), vec![done, Reply::complete("done")]);
    let done = eventually("the next run", || Some(task(&runs, &id)).filter(|task| task["last_run_status"] == "done"));
    let statuses: Vec<_> =
        done["fire_history"].as_array().expect("a list").iter().map(|one| one["status"].clone()).collect();
    assert_eq!((statuses, &done["status"]), (vec![json!("failed"), json!("done")], &json!("open")));
    assert_eq!(done["last_run_error_code"], Value::Null);
    runs.post(&format!("/api/v1/tasks/{id}/complete"), &json!({"status": "cancelled"})).expect(200);
}

#[test]
fn s0_145_a_task_is_cancelled_with_its_run() {
    let runs = Runs::shared();
    let id = create(&runs.team, "Write for ever.", 3);
    let latch = Latch::default();
    let held = Reply::Held(latch.clone(), Box::new(Reply::complete("late")));
    runs.model.answers(&format!("The task {id}"), vec![held]);
    latch.is_reached_by(1);
    let run = task(&runs, &id)["last_run_id"].as_str().expect("a run").to_owned();
    assert_eq!(runs.post(&format!("/agents/{run}/cancel"), &json!({})).status, 204);
    latch.open();
    let cancelled = eventually("the task", || Some(task(&runs, &id)).filter(|task| task["status"] == "cancelled"));
    assert_eq!(cancelled["fire_history"][0]["status"], "cancelled", "{cancelled}");
}

/// The server is killed while the model thinks. The run fails after the restart, and its task with it.
#[test]
fn s0_145_a_task_fails_although_its_server_dies() {
    let model = ModelEndpoint::serve();
    let server = Server::private(&options(&model));
    let team = Team::on(&server);
    agent(&team);
    let latch = Latch::default();
    let held = Reply::Held(latch.clone(), Box::new(Reply::complete("never heard")));
    model.answers("The task", vec![held, Reply::Refuses(400)]);
    let id = create(&team, "Write the report.", 1);
    latch.is_reached_by(1);
    server.kill();
    let runs = Runs { team: team.moved_to(server.restarted(|_| {})), model };
    let failed = eventually("the failure", || Some(task(&runs, &id)).filter(|task| task["status"] == "failed"));
    assert_eq!((&failed["fire_count"], &failed["last_run_error_code"]), (&json!(1), &json!("model_refused")));
    latch.open();
}

/// Two servers fire the tasks: each has one run, although one of the servers dies.
#[test]
fn each_due_task_has_one_run() {
    let model = ModelEndpoint::serve();
    let Some(nodes) = Nodes::start_with(2, &options(&model)) else { return };
    let team = nodes.team();
    agent(&team);
    model.answers("The task", vec![Reply::complete("done")]);
    let ids: Vec<_> = (0..TASKS).map(|number| create(&team, &format!("Number {number}."), 4)).collect();
    let runs = Runs { team: team.at(&nodes.servers[1]), model };
    eventually("the first run", || (!runs.model.received("The task").is_empty()).then_some(()));
    nodes.servers[0].kill();
    for id in &ids {
        let fired = eventually("the task", || Some(task(&runs, id)).filter(|task| task["status"] == "fired"));
        assert_eq!((&fired["fire_count"], &fired["revision"]), (&json!(1), &json!(2)), "{fired}");
        runs.becomes(&json!({"agent_run_id": fired["fire_history"][0]["agent_run_id"]}), "completed");
    }
    assert_eq!(count_runs(&nodes.place.cluster.url("postgres")), TASKS);
}
