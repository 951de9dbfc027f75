//! The states of a task over time.

use std::time::Duration;

use registry::{AccountId, LibraryItemId, Timestamp};
use serde_json::{Value, json};

use super::heartbeat::fire;
use super::moment::Moment;
use super::occurrence::RunEnd;
use super::task::{Task, TaskStatus};
use crate::domain::library::{LibraryFamily, LibraryItem, Provenance};

fn time(text: &str) -> Moment {
    Moment::of(text.parse().unwrap())
}

fn task(fields: &Value) -> Task {
    let mut task = json!({
        "description": "x", "priority": "medium", "status": "open", "timezone": "Europe/Berlin", "skip_next": false, "fire_count": 0,
        "fire_history": [],
    });
    task.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
    serde_json::from_value(task).unwrap()
}

fn every_morning() -> Task {
    task(&json!({"recurrence": "cron", "cron": "0 9 * * *", "due_at": "2026-12-01T08:00:00Z"}))
}

fn statuses(task: &Task) -> Vec<Value> {
    task.fire_history.iter().map(|one| serde_json::to_value(one.status).unwrap()).collect()
}

#[test]
fn a_skipped_occurrence_is_left_out_and_the_one_after_fires() {
    let mut task = every_morning();
    task.skip_next().unwrap();
    for day in ["2026-12-01T08:00:00Z", "2026-12-02T08:00:00Z"] {
        assert_eq!(task.due_at, Some(time(day)));
        task.fire(time(day), None);
    }
    assert_eq!((statuses(&task), task.fire_count), (vec![json!("skipped"), json!("fired")], 1));
}

#[test]
fn occurrences_that_were_missed_fire_once() {
    let mut task = every_morning();
    task.fire(time("2026-12-04T12:00:00Z"), None);
    assert_eq!((task.fire_count, task.due_at), (1, Some(time("2026-12-05T08:00:00Z"))));
    assert_eq!(task.fire_history[0].due_at, time("2026-12-01T08:00:00Z"));
}

#[test]
fn no_occurrence_comes_twice_when_the_clock_is_set_back() {
    let mut task = every_morning();
    task.fire(time("2026-11-30T00:00:00Z"), None);
    assert_eq!(task.due_at, Some(time("2026-12-02T08:00:00Z")));
}

#[test]
fn the_latest_fifty_occurrences_are_remembered() {
    let mut task =
        task(&json!({"recurrence": "daily", "starts_at": "2026-01-01T08:00:00Z", "due_at": "2026-01-01T08:00:00Z"}));
    for _ in 0..60 {
        task.fire(task.due_at.unwrap(), None);
    }
    assert_eq!((task.fire_count, task.fire_history.len()), (60, 50));
    assert_eq!(task.fire_history[0].due_at, time("2026-01-11T08:00:00Z"));
}

#[test]
fn a_task_without_a_recurrence_fires_once() {
    let mut task = task(&json!({"due_at": "2026-12-01T08:00:00Z"}));
    task.fire(time("2026-12-01T08:00:01Z"), None);
    let content = task.content().unwrap();
    assert_eq!((content.label.as_deref(), content.due_at), (Some("fired"), None));
    task.fire(time("2026-12-01T08:00:02Z"), None);
    assert_eq!(task.fire_count, 1);
    task.complete(None, time("2026-12-01T09:00:00Z")).unwrap();
    assert_eq!(task.content().unwrap().label.as_deref(), Some("done"));
    assert!(task.complete(None, time("2026-12-01T09:00:00Z")).is_err());
}

const FIRST: &str = "2026-12-01T08:00:00Z";

fn run_of(task: &mut Task, run: &str) {
    assert!(task.fire(task.due_at.unwrap(), Some(run.to_owned())));
}

/// The end of a run that failed, a day after the first occurrence.
fn failed(task: &mut Task, run: &str) -> bool {
    task.end_run(run, RunEnd::Failed { error_code: "stuck".into() }, time("2026-12-02T09:00:00Z"))
}

fn last_run(task: &Task) -> Value {
    let body = task.content().unwrap().body;
    json!([body["last_run_id"], body["last_run_status"], body["last_run_error_code"]])
}

#[test]
fn s0_145_a_task_without_a_recurrence_fails_with_its_run() {
    let mut task = task(&json!({"due_at": FIRST}));
    run_of(&mut task, "r1");
    assert_eq!(last_run(&task), json!(["r1", "fired", null]));
    assert!(!failed(&mut task, "another"));
    assert!(failed(&mut task, "r1") && !failed(&mut task, "r1"));
    let content = task.content().unwrap();
    assert_eq!((content.label.as_deref(), content.due_at), (Some("failed"), None));
    let occurrence = &content.body["fire_history"][0];
    assert_eq!((&occurrence["status"], &occurrence["error_code"]), (&json!("failed"), &json!("stuck")));
    assert_eq!(occurrence["ended_at"], "2026-12-02T09:00:00.000Z");
    assert_eq!(last_run(&task), json!(["r1", "failed", "stuck"]));
    assert!(!task.fire(time("2026-12-03T09:00:00Z"), None), "never due again");
    assert!(task.complete(None, time(FIRST)).is_err() && task.cancel(None, time(FIRST)).is_err());
}

#[test]
fn s0_145_a_recurring_task_goes_on_after_a_failed_run() {
    let mut task = every_morning();
    run_of(&mut task, "r1");
    run_of(&mut task, "r2");
    assert!(failed(&mut task, "r1"));
    assert_eq!((statuses(&task), task.status), (vec![json!("failed"), json!("fired")], TaskStatus::Open));
    assert_eq!(last_run(&task), json!(["r2", "fired", null]), "the latest run goes on");
    assert!(failed(&mut task, "r2"));
    assert_eq!((last_run(&task), task.due_at), (json!(["r2", "failed", "stuck"]), Some(time("2026-12-03T08:00:00Z"))));
    assert!(task.complete(None, time(FIRST)).is_err(), "nothing is due");
    run_of(&mut task, "r3");
    task.complete(None, time(FIRST)).unwrap();
    assert_eq!(last_run(&task), json!(["r3", "done", null]));
}

#[test]
fn s0_145_the_last_occurrence_of_a_recurring_task_fails_the_task() {
    let mut ended = every_morning();
    run_of(&mut ended, "r1");
    ended.end_recurrence(time(FIRST)).unwrap();
    assert!(failed(&mut ended, "r1"));
    assert_eq!((ended.status, statuses(&ended)), (TaskStatus::Done, vec![json!("failed")]));
    // The calendar has no other such day.
    let mut last = task(&json!({"recurrence": "daily", "starts_at": FIRST, "due_at": "9999-12-30T08:00:00Z"}));
    run_of(&mut last, "r1");
    assert_eq!((last.status, last.due_at), (TaskStatus::Fired, None));
    assert!(failed(&mut last, "r1"));
    assert_eq!(last.status, TaskStatus::Failed);
    assert!(last.end_recurrence(time(FIRST)).is_err() && last.skip_next().is_err());
}

#[test]
fn s0_145_a_task_that_is_completed_or_cancelled_does_not_fail() {
    let mut done = task(&json!({"due_at": FIRST}));
    run_of(&mut done, "r1");
    done.complete(None, time(FIRST)).unwrap();
    assert!(!failed(&mut done, "r1"));
    assert_eq!((done.status, statuses(&done)), (TaskStatus::Done, vec![json!("done")]));
    let mut cancelled = task(&json!({"due_at": FIRST}));
    run_of(&mut cancelled, "r1");
    cancelled.cancel(Some("Not wanted.".into()), time(FIRST)).unwrap();
    assert!(!failed(&mut cancelled, "r1"));
    assert_eq!((cancelled.status, statuses(&cancelled)), (TaskStatus::Cancelled, vec![json!("cancelled")]));
}

#[test]
fn s0_145_a_cancelled_task_is_never_due_again() {
    for mut task in [every_morning(), task(&json!({"due_at": FIRST})), task(&json!({}))] {
        task.cancel(Some("Not wanted.".into()), time(FIRST)).unwrap();
        let content = task.content().unwrap();
        assert_eq!((content.label.as_deref(), content.due_at), (Some("cancelled"), None));
        assert_eq!(content.body["fire_history"][0]["result"], "Not wanted.");
        assert!(!task.fire(time("2026-12-03T08:00:00Z"), None));
        assert!(task.cancel(None, time(FIRST)).is_err() && task.complete(None, time(FIRST)).is_err());
        assert!(task.skip_next().is_err() && task.end_recurrence(time(FIRST)).is_err());
        assert_eq!(task.content().unwrap(), content);
    }
}

#[test]
fn s0_145_a_task_is_cancelled_with_its_run() {
    let mut once = task(&json!({"due_at": FIRST}));
    run_of(&mut once, "r1");
    assert!(once.end_run("r1", RunEnd::Cancelled, time(FIRST)));
    assert_eq!(
        (once.status, once.cancelled_at, last_run(&once)),
        (TaskStatus::Cancelled, Some(time(FIRST)), json!(["r1", "cancelled", null]))
    );
    let mut daily = every_morning();
    run_of(&mut daily, "r1");
    assert!(daily.end_run("r1", RunEnd::Cancelled, time(FIRST)));
    assert_eq!(
        (daily.status, daily.cancelled_at, statuses(&daily)),
        (TaskStatus::Open, None, vec![json!("cancelled")])
    );
}

#[test]
fn a_task_of_an_earlier_release_is_read() {
    let occurrence =
        json!({"due_at": FIRST, "fired_at": FIRST, "status": "fired", "completed_at": null, "result": null});
    let mut task = task(&json!({"status": "fired", "fire_history": [occurrence]}));
    task.complete(None, time(FIRST)).unwrap();
    assert_eq!(statuses(&task), [json!("done")]);
}

#[test]
fn a_task_that_cannot_be_read_is_kept_and_looked_at_later() {
    let body = json!({"description": 1, "status": "of a later release"}).as_object().cloned().unwrap();
    let item = LibraryItem {
        id: LibraryItemId::parse("6b087fb88c8b71fedaf8732b").unwrap(),
        family: LibraryFamily::Tasks,
        owner: AccountId::parse("ada#1").unwrap(),
        app: None,
        body: body.clone(),
        content_bytes: 0,
        revision: 1,
        provenance: Provenance::default(),
        created_at: Timestamp::default(),
        updated_at: Timestamp::default(),
    };
    let (content, fired) = fire(&item, Timestamp::default(), None);
    assert_eq!((content.body, content.label.as_deref(), fired), (body, Some("of a later release"), None));
    assert_eq!(content.due_at, Some(Timestamp::default().after(Duration::from_hours(1))));
}
