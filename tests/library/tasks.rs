//! Tasks.

use std::time::Duration;

use registry::{Clock, Timestamp};
use serde_json::{Value, json};

use super::agent::{Agent, rows};
use crate::harness::{Team, eventually};

const DAY: Duration = Duration::from_hours(24);
const YEAR: Duration = Duration::from_hours(366 * 24);

fn now() -> Timestamp {
    Clock::system().now()
}

/// A time after the present one, as text.
fn in_future(time: Duration) -> String {
    now().after(time).to_string()
}

/// The time of a daily task whose second occurrence comes after a moment. Its first one has passed.
fn yesterday(and: Duration) -> Timestamp {
    now().before(DAY).after(and)
}

#[track_caller]
fn created(agent: &Agent, fields: Value) -> Value {
    let mut task = json!({"description": "Write the weekly report."});
    task.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
    agent.data("task_create", task)
}

#[track_caller]
fn task(agent: &Agent, id: &Value) -> Value {
    agent.data("task_get", json!({"task_id": id}))
}

/// Waits until the server has fired a task.
#[track_caller]
fn fired(agent: &Agent, id: &Value, count: usize) -> Value {
    eventually("the time of the task", || {
        let task = task(agent, id);
        (task["fire_history"].as_array().map_or(0, Vec::len) >= count).then_some(task)
    })
}

#[track_caller]
fn changed(agent: &Agent, tool: &str, id: &Value) -> Value {
    agent.data(tool, json!({"task_id": id}))
}

#[track_caller]
fn refused_field(agent: &Agent, fields: Value, field: &str) {
    let mut task = json!({"description": "x"});
    task.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
    let error = agent.error("task_create", task);
    let text = error["message"].as_str().expect("a message");
    assert_eq!((&error["status"], &error["code"]), (&json!(400), &json!("invalid_value")), "{error}");
    assert!(text.starts_with(&format!("/{field}: ")), "{error}");
}

/// The team has no other tasks, so that whole pages are known.
#[test]
fn s0_072_and_s0_073_task_list_limit_and_offset() {
    let team = Team::new();
    let agent = Agent::of(&team, "pages");
    let [first, second, third] = [(); 3].map(|()| created(&agent, json!({}))["task_id"].clone());
    for (arguments, expected, has_more) in [
        (json!({}), vec![&third, &second, &first], false),
        (json!({"limit": 1}), vec![&third], true),
        (json!({"offset": 1}), vec![&second, &first], false),
        (json!({"limit": 1, "offset": 1}), vec![&second], true),
        (json!({"limit": 2, "offset": 1}), vec![&second, &first], false),
        (json!({"offset": 3}), vec![], false),
    ] {
        assert_eq!(json!(agent.listed("task_list", arguments.clone(), "task_id")), json!(expected), "{arguments}");
        assert_eq!(agent.data("task_list", arguments.clone())["has_more"], has_more, "{arguments}");
    }
}

rows! {
    s0_014_a_task_that_is_due_is_fired_and_completed: |agent| {
        let id = created(agent, json!({"due_at": in_future(Duration::from_secs(1))}))["task_id"].clone();
        assert_eq!(task(agent, &id)["status"], "open");
        let due = fired(agent, &id, 1);
        assert_eq!((&due["status"], &due["fire_count"], &due["due_at"]), (&json!("fired"), &json!(1), &json!(null)));
        let fired = agent.listed("task_list", json!({"status": "fired", "limit": 200}), "task_id");
        assert!(fired.contains(&id), "{fired:?}");
        let done = agent.data("task_complete", json!({"task_id": id, "result": "Sent."}));
        assert_eq!((&done["status"], &done["fire_history"][0]["result"]), (&json!("done"), &json!("Sent.")));
        assert_eq!(agent.refused("task_complete", json!({"task_id": id})), ("conflict".into(), 409));
    };
    s0_066_task_create_description: |agent| {
        assert_eq!(created(agent, json!({}))["description"], "Write the weekly report.");
        assert_eq!(agent.refused("task_create", json!({"priority": "low"})), ("input_schema".into(), 400));
    };
    s0_067_task_create_cron: |agent| {
        let task = created(agent, json!({"cron": "30 9 29 2 *", "timezone": "asia/tokyo"}));
        assert_eq!((&task["timezone"], &task["recurrence"]), (&json!("Asia/Tokyo"), &json!("cron")), "{task}");
        assert!(task["due_at"].as_str().expect("a time").ends_with("-02-29T00:30:00.000Z"), "{task}");
        for (wrong, field) in [
            (json!({"cron": "not a cron"}), "cron"),
            (json!({"cron": "* * * * * *"}), "cron"),
            (json!({"cron": "61 * * * *"}), "cron"),
            (json!({"cron": "0 0 30 2 *"}), "cron"),
            (json!({"cron": "0 9 * * *", "timezone": "Mars/Olympus"}), "timezone"),
            (json!({"cron": "0 9 * * *", "recurrence": "daily"}), "recurrence"),
            (json!({"recurrence": "cron"}), "cron"),
        ] {
            refused_field(agent, wrong, field);
        }
    };
    s0_068_task_create_recurrence: |agent| {
        let due_at = in_future(DAY);
        for recurrence in ["daily", "weekly", "monthly"] {
            let task = created(agent, json!({"recurrence": recurrence, "due_at": due_at}));
            assert_eq!((&task["recurrence"], &task["due_at"], &task["starts_at"]), (&json!(recurrence), &json!(due_at), &json!(due_at)));
        }
        let task = created(agent, json!({"recurrence": "daily"}));
        assert!(task["due_at"].as_str() > Some(&in_future(DAY - Duration::from_hours(1))), "one day from now: {task}");
        assert_eq!(agent.refused("task_create", json!({"description": "x", "recurrence": "yearly"})), ("input_schema".into(), 400));
    };
    s0_069_task_create_priority: |agent| {
        assert_eq!(created(agent, json!({}))["priority"], "medium");
        assert_eq!(created(agent, json!({"priority": "urgent"}))["priority"], "urgent");
    };
    s0_070_task_create_due_at: |agent| {
        for (given, zone, expected) in [
            ("2999-12-24T09:00:00+01:00", "UTC", "2999-12-24T08:00:00.000Z"),
            ("2999-12-24T09:00:00Z", "Europe/Berlin", "2999-12-24T09:00:00.000Z"),
            ("2999-12-24T09:00", "Europe/Berlin", "2999-12-24T08:00:00.000Z"),
        ] {
            assert_eq!(created(agent, json!({"due_at": given, "timezone": zone}))["due_at"], expected, "{given}");
        }
        refused_field(agent, json!({"due_at": "tomorrow"}), "due_at");
        let by_cron = created(agent, json!({"due_at": "2999-12-24T09:00:00Z", "cron": "0 9 * * *"}));
        assert_eq!(by_cron["due_at"], "2999-12-24T09:00:00.000Z", "the first occurrence that is not before");
    };
    times_at_a_change_of_the_clock_are_due_at_the_change_and_once: |agent| {
        // The first occurrence that is not before a time. The clocks of Berlin change on March 31 and October 27 of that year.
        let first = |recurrence: Value, from: &str| {
            let mut fields = json!({"timezone": "Europe/Berlin", "due_at": from});
            fields.as_object_mut().expect("an object").extend(recurrence.as_object().cloned().expect("an object"));
            created(agent, fields)["due_at"].clone()
        };
        for (expression, from, expected) in [
            ("30 1,2 * * *", "2999-03-31T00:31:00Z", "2999-03-31T01:00:00.000Z"),
            ("0 2,3 * * *", "2999-03-31T01:00:01Z", "2999-04-01T00:00:00.000Z"),
            ("*/20 2 * * *", "2999-03-31T00:00:00Z", "2999-03-31T01:00:00.000Z"),
            ("*/20 2 * * *", "2999-03-31T01:00:01Z", "2999-04-01T00:00:00.000Z"),
            ("30 1,2 * * *", "2999-10-27T00:31:00Z", "2999-10-28T00:30:00.000Z"),
            ("*/20 2 * * *", "2999-10-27T00:41:00Z", "2999-10-28T01:00:00.000Z"),
            ("0 2-3 * * *", "2999-10-27T00:01:00Z", "2999-10-27T02:00:00.000Z"),
            ("30 * * * *", "2999-10-27T00:31:00Z", "2999-10-27T01:30:00.000Z"),
        ] {
            assert_eq!(first(json!({"cron": expression}), from), expected, "{expression} from {from}");
        }
        for recurrence in ["daily", "weekly", "monthly"] {
            let due_at = first(json!({"recurrence": recurrence}), "2999-03-31T02:30");
            assert_eq!(due_at, "2999-03-31T01:00:00.000Z", "{recurrence}");
        }
        let once = created(agent, json!({"timezone": "Europe/Berlin", "due_at": "2999-03-31T02:30"}));
        assert_eq!(once["due_at"], "2999-03-31T01:00:00.000Z");
    };
    s0_071_task_list_status_filters: |agent| {
        let [open, done] = [(); 2].map(|()| created(agent, json!({}))["task_id"].clone());
        changed(agent, "task_complete", &done);
        for (status, expected) in [("open", [true, false]), ("done", [false, true])] {
            let listed = agent.listed("task_list", json!({"status": status, "limit": 200}), "task_id");
            assert_eq!([&open, &done].map(|id| listed.contains(id)), expected, "{status}");
        }
        let whole = agent.data("task_list", json!({"limit": 1}));
        assert!(whole["items"][0].get("fire_history").is_none(), "{whole}");
    };
    s0_074_task_get: |agent| {
        let task = created(agent, json!({}));
        assert_eq!(agent.data("task_get", json!({"task_id": task["task_id"]})), task);
        assert_eq!(agent.refused("task_get", json!({"task_id": "none"})), ("not_found".into(), 404));
    };
    s0_075_and_s0_076_task_complete: |agent| {
        let id = created(agent, json!({"due_at": in_future(YEAR)}))["task_id"].clone();
        let done = agent.data("task_complete", json!({"task_id": id, "result": "Early."}));
        assert_eq!((&done["status"], &done["due_at"], &done["fire_count"]), (&json!("done"), &json!(null), &json!(0)));
        assert_eq!(done["fire_history"][0]["result"], "Early.");
        assert!(done["completed_at"].is_string());
        let long = json!({"task_id": id, "result": "x".repeat(5000)});
        assert_eq!(agent.refused("task_complete", long), ("input_schema".into(), 400));
    };
    s0_077_task_skip_next: |agent| {
        let start = yesterday(Duration::from_secs(4));
        let task = created(agent, json!({"recurrence": "daily", "due_at": start.to_string()}));
        let id = &task["task_id"];
        let first = fired(agent, id, 1);
        assert_eq!((&first["status"], &first["fire_count"], &first["due_at"]), (&json!("open"), &json!(1), &json!(start.after(DAY).to_string())));
        assert_eq!(changed(agent, "task_skip_next", id)["skip_next"], true);
        let second = fired(agent, id, 2);
        assert_eq!((&second["fire_history"][1]["status"], &second["fire_count"]), (&json!("skipped"), &json!(1)), "{second}");
        assert_eq!((&second["skip_next"], &second["due_at"]), (&json!(false), &json!(start.after(2 * DAY).to_string())));
        assert_eq!(agent.refused("task_complete", json!({"task_id": id})), ("conflict".into(), 409), "nothing is due");
        let once = created(agent, json!({}))["task_id"].clone();
        assert_eq!(agent.refused("task_skip_next", json!({"task_id": once})), ("conflict".into(), 409));
    };
    s0_078_task_end_recurrence: |agent| {
        let start = yesterday(Duration::from_secs(3));
        let id = created(agent, json!({"recurrence": "daily", "due_at": start.to_string()}))["task_id"].clone();
        fired(agent, &id, 1);
        let ended = changed(agent, "task_end_recurrence", &id);
        assert_eq!((&ended["status"], &ended["due_at"]), (&json!("done"), &json!(null)), "{ended}");
        assert!(ended["recurrence_ended_at"].is_string());
        let again = changed(agent, "task_end_recurrence", &id);
        assert_eq!(again["recurrence_ended_at"], ended["recurrence_ended_at"], "a repeated call changes nothing");
        std::thread::sleep(Duration::from_secs(5));
        assert_eq!(task(agent, &id)["fire_count"], 1, "the second time has passed");
        let done = changed(agent, "task_complete", &id);
        assert_eq!(done["fire_history"][0]["status"], "done", "what has come can be completed");
    };
    s0_079_task_delete: |agent| {
        let id = created(agent, json!({"due_at": in_future(Duration::from_secs(1))}))["task_id"].clone();
        changed(agent, "task_delete", &id);
        for tool in ["task_get", "task_complete", "task_skip_next", "task_end_recurrence", "task_delete"] {
            assert_eq!(agent.refused(tool, json!({"task_id": id})), ("not_found".into(), 404), "{tool}");
        }
    };
    s0_145_each_occurrence_is_completed_by_itself: |agent| {
        let start = yesterday(Duration::from_secs(3));
        let id = created(agent, json!({"recurrence": "daily", "due_at": start.to_string()}))["task_id"].clone();
        fired(agent, &id, 1);
        let first = agent.data("task_complete", json!({"task_id": id, "result": "first"}));
        assert_eq!((&first["status"], &first["fire_history"][0]["status"]), (&json!("open"), &json!("done")), "{first}");
        fired(agent, &id, 2);
        let second = agent.data("task_complete", json!({"task_id": id, "result": "second"}));
        let results: Vec<_> = second["fire_history"].as_array().expect("a list").iter().map(|one| one["result"].clone()).collect();
        assert_eq!((results, &second["fire_count"]), (vec![json!("first"), json!("second")], &json!(2)));
    };
    s0_145_a_task_is_cancelled: |agent| {
        let id = created(agent, json!({"due_at": in_future(Duration::from_secs(2))}))["task_id"].clone();
        let cancel = |id: &Value| json!({"task_id": id, "status": "cancelled", "result": "Not wanted."});
        let cancelled = agent.data("task_complete", cancel(&id));
        assert_eq!((&cancelled["status"], &cancelled["due_at"]), (&json!("cancelled"), &json!(null)), "{cancelled}");
        let occurrence = &cancelled["fire_history"][0];
        assert_eq!((&occurrence["status"], &occurrence["result"]), (&json!("cancelled"), &json!("Not wanted.")));
        assert!(cancelled["cancelled_at"].is_string() && cancelled["completed_at"].is_null(), "{cancelled}");
        for (status, expected) in [("cancelled", true), ("open", false), ("failed", false), ("done", false)] {
            let listed = agent.listed("task_list", json!({"status": status, "limit": 200}), "task_id");
            assert_eq!(listed.contains(&id), expected, "{status}");
        }
        for again in [cancel(&id), json!({"task_id": id})] {
            assert_eq!(agent.refused("task_complete", again), ("conflict".into(), 409));
        }
        let other = json!({"task_id": id, "status": "failed"});
        assert_eq!(agent.refused("task_complete", other), ("input_schema".into(), 400), "only runs fail");
        std::thread::sleep(Duration::from_secs(4));
        assert_eq!(task(agent, &id), cancelled, "its time has passed");
    };
    s0_145_a_recurring_task_is_cancelled_as_a_whole: |agent| {
        let start = yesterday(Duration::from_secs(5));
        let id = created(agent, json!({"recurrence": "daily", "due_at": start.to_string()}))["task_id"].clone();
        fired(agent, &id, 1);
        let team = agent.0.team;
        let path = format!("/api/v1/tasks/{}/complete", id.as_str().expect("an id"));
        let request = team.server.request("POST", &path).bearer(&team.token);
        let cancelled = request.json(&json!({"status": "cancelled"})).send().expect(200)["data"].clone();
        assert_eq!((&cancelled["status"], &cancelled["due_at"]), (&json!("cancelled"), &json!(null)), "{cancelled}");
        assert_eq!(cancelled["fire_history"][0]["status"], "cancelled");
        std::thread::sleep(Duration::from_secs(7));
        assert_eq!(task(agent, &id), cancelled, "the second time has passed");
        for tool in ["task_skip_next", "task_end_recurrence"] {
            assert_eq!(agent.refused(tool, json!({"task_id": id})), ("conflict".into(), 409), "{tool}");
        }
        changed(agent, "task_delete", &id);
    };
    of_two_completions_at_once_one_is_told: |agent| {
        let id = created(agent, json!({}))["task_id"].clone();
        let complete = || agent.envelope("task_complete", json!({"task_id": id})).0["success"] == true;
        let ended = std::thread::scope(|scope| [(); 4].map(|()| scope.spawn(complete)).map(|call| call.join().expect("a call")));
        assert_eq!(ended.iter().filter(|has_won| **has_won).count(), 1, "{ended:?}");
    };
}
