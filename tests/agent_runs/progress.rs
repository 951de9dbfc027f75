//! `__log_progress__`.

use serde_json::json;

use super::runs::{Runs, id};
use crate::harness::Reply;

#[test]
fn s1_058_to_064_progress_is_a_step_that_is_found_by_its_milestone() {
    let runs = Runs::shared();
    let log = |arguments| Reply::call("__log_progress__", arguments);
    let replies = vec![
        log(json!({"message": "Research is done.", "milestone": "research", "data": {"articles": 3}})),
        log(json!({"message": "Going on."})),
        log(json!({"milestone": "without a message"})),
        log(json!({"message": "x", "milestone": "\0"})),
        Reply::complete("done"),
    ];
    let run = runs.execute("s1_058", &["__log_progress__", "__complete__"], replies);
    assert_eq!((&run["status"], &run["iterations"]), (&json!("completed"), &json!(5)));
    let trace = runs.trace(&run);
    let logged = |milestone| json!({"logged": true, "milestone": milestone, "message": "Progress logged"}).to_string();
    assert_eq!(
        (&trace[0]["observation"], &trace[1]["observation"]),
        (&json!(logged(json!("research"))), &json!(logged(json!(null))))
    );
    assert_eq!(trace[0]["action_input"]["data"], json!({"articles": 3}));
    let success: Vec<_> = trace.iter().map(|step| step["success"].clone()).collect();
    assert_eq!(success, [true, true, false, false, true]);
    let found = |query: &str| runs.get(&format!("/agents/{}/trace?{query}", id(&run)))["trace"].clone();
    assert_eq!(found("milestone=research"), json!([trace[0]]));
    assert_eq!(found("milestone=other"), json!([]));
    assert_eq!(found("until=2020-01-01T00:00:00Z"), json!([]));
    assert_eq!(found("since=2020-01-01T00:00:00Z"), json!(trace));
}
