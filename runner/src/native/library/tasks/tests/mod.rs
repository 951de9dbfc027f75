//! The states of a task over time.

use registry::{LibraryFamily, LibraryItem, LibraryItemId, Provenance, Timestamp, UserId};
use serde_json::{Value, json};

use super::heartbeat::fire;
use super::moment::Moment;
use super::task::Task;

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

#[test]
fn a_damaged_task_is_due_no_more() {
    let body = json!({"description": 1}).as_object().cloned().unwrap();
    let item = LibraryItem {
        id: LibraryItemId::parse("6b087fb88c8b71fedaf8732b").unwrap(),
        family: LibraryFamily::Tasks,
        owner: UserId::parse("ada").unwrap(),
        app: None,
        body: body.clone(),
        revision: 1,
        provenance: Provenance::default(),
        created_at: Timestamp::default(),
        updated_at: Timestamp::default(),
    };
    let (content, fired) = fire(&item, Timestamp::default(), None);
    assert_eq!((content.body, content.due_at, fired), (body, None, None));
}
