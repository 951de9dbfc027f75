//! `__store_memory__` and `__retrieve_memory__`.

use serde_json::{Value, json};

use super::runs::{Runs, now, time};
use crate::harness::Reply;

const TOOLS: [&str; 3] = ["__store_memory__", "__retrieve_memory__", "__complete__"];

fn store(key: &str, value: &Value) -> Reply {
    Reply::call("__store_memory__", json!({"key": key, "value": value}))
}

fn retrieve(key: &str) -> Reply {
    Reply::call("__retrieve_memory__", json!({"key": key}))
}

/// The results of the steps of a run.
fn results(runs: &Runs, run: &Value) -> Vec<Value> {
    let trace = runs.trace(run);
    trace.iter().filter_map(|step| serde_json::from_str(step["observation"].as_str()?).ok()).collect()
}

#[test]
fn s1_045_046_048_049_and_055_to_057_a_value_is_stored_and_retrieved() {
    let runs = Runs::shared();
    let begin = now();
    let values = [json!("text"), json!(1.5), json!({"a": [1]}), json!([null]), json!(true), json!(null)];
    let replies = values.iter().flat_map(|value| [store("k", value), retrieve("k")]);
    let run = runs.execute("s1_045", &TOOLS, replies.chain([retrieve("other"), Reply::complete("done")]).collect());
    let results = results(&runs, &run);
    assert_eq!(results[0], json!({"stored": true, "key": "k", "message": "Stored value under key \"k\""}));
    for (number, value) in values.iter().enumerate() {
        let found = &results[number * 2 + 1];
        assert_eq!((&found["found"], &found["key"], &found["value"]), (&json!(true), &json!("k"), value));
        assert!((begin..=now()).contains(&time(&found["stored_at"])), "{found}");
    }
    assert_eq!(results[12], json!({"found": false, "key": "other", "message": "No memory found for key \"other\""}));
    assert!(runs.trace(&run).iter().all(|step| step["success"] == true), "a key without a value is a result");
}

#[test]
fn s1_045_046_and_054_wrong_arguments_are_told_to_the_model() {
    let runs = Runs::shared();
    let stores = [
        (json!({"value": 1}), "`key`"),
        (json!({"key": "k"}), "`value`"),
        (json!({"key": 1, "value": 1}), "string"),
        (json!({"key": null, "value": 1}), "string"),
        (json!({"key": "k", "value": 1, "scope": "all"}), "`scope`"),
    ];
    let retrieves = [(json!({}), "`key`"), (json!({"key": 1}), "string")];
    let called = stores.iter().map(|(arguments, _)| Reply::call("__store_memory__", arguments.clone()));
    let called =
        called.chain(retrieves.iter().map(|(arguments, _)| Reply::call("__retrieve_memory__", arguments.clone())));
    let run = runs.execute("s1_054", &TOOLS, called.chain([retrieve("k"), Reply::complete("done")]).collect());
    let trace = runs.trace(&run);
    for (step, (arguments, problem)) in trace.iter().zip(stores.iter().chain(&retrieves)) {
        assert_eq!((&step["success"], &step["action_input"]), (&json!(false), arguments));
        assert!(step["observation"].as_str().is_some_and(|text| text.contains(problem)), "{step}");
    }
    assert_eq!((&run["status"], trace.len()), (&json!("completed"), 9));
    assert_eq!(results(&runs, &run)[0]["found"], false, "nothing was stored");
}

#[test]
fn s1_047_and_050_a_value_expires() {
    let runs = Runs::shared();
    let for_now = Reply::call("__store_memory__", json!({"key": "k", "value": 1, "ttl_seconds": 0}));
    let for_long = Reply::call("__store_memory__", json!({"key": "l", "value": 1, "ttl_seconds": 3600}));
    let replies = vec![for_now, for_long, retrieve("k"), retrieve("l"), Reply::complete("done")];
    let results = results(&runs, &runs.execute("s1_047", &TOOLS, replies));
    assert_eq!((&results[2]["found"], &results[3]["found"]), (&json!(false), &json!(true)));
}

#[test]
fn s1_051_and_052_another_run_has_its_own_memory() {
    let runs = Runs::shared();
    runs.execute("s1_051", &TOOLS, vec![store("shared", &json!(1)), Reply::complete("done")]);
    let run = runs.execute("s1_052", &TOOLS, vec![retrieve("shared"), Reply::complete("done")]);
    assert_eq!(results(&runs, &run)[0]["found"], false);
}

#[test]
fn the_memory_of_a_run_is_bounded() {
    let runs = Runs::shared();
    let large = json!("x".repeat(15 << 10));
    let mut replies: Vec<_> = (0..18).map(|number| store(&format!("k{number}"), &large)).collect();
    replies.extend([
        store("k0", &json!("y".repeat(17 << 10))),
        store("k0", &large),
        retrieve("k0"),
        Reply::complete("done"),
    ]);
    let run = runs.execute_with(json!({"objective": "memory bound", "tools": TOOLS, "max_iterations": 30}), replies);
    let success: Vec<_> = runs.trace(&run).iter().map(|step| step["success"] == true).collect();
    assert_eq!(success[..17], [true; 17], "17 values of 15 KiB fit");
    assert_eq!(success[17..], [false, false, true, true, true]);
    let found: Value = serde_json::from_str(&runs.last_observation("memory bound")).expect("the whole value");
    assert_eq!(found["value"], large);
}
