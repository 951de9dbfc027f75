//! `__complete__`, and the ends of runs without it.

use serde_json::json;

use super::runs::{Runs, TOOL};
use crate::harness::Reply;

#[test]
fn s1_005_006_and_008_to_010_complete_ends_a_run_with_its_answer() {
    let runs = Runs::shared();
    let full = json!({"answer": "Approve.", "confidence": 0.95, "summary": "Verified."});
    let run = runs.execute_with(
        json!({"objective": "s1_005", "tools": ["__complete__"], "result_key": "decision", "context": {"order": 7}}),
        vec![Reply::call("__complete__", full.clone())],
    );
    assert_eq!(
        (&run["status"], &run["final_answer"], &run["confidence"]),
        (&json!("completed"), &full["answer"], &full["confidence"])
    );
    assert_eq!(run["context"], json!({"order": 7, "decision": full}));
    assert!(run["completed_at"].is_string());
    let short = runs.execute("s1_006", &["__complete__"], vec![Reply::complete("Yes.")]);
    assert_eq!((&short["confidence"], &short["summary"]), (&json!(1.0), &json!(null)));
    assert_eq!(short["context"]["agentResult"], json!({"answer": "Yes.", "confidence": 1.0}));
    let first = &runs.model.received("s1_005")[0].body["messages"][0];
    assert!(first["content"].as_str().is_some_and(|text| text.contains(r#"{"order":7}"#)), "{first}");
}

#[test]
fn s1_007_wrong_arguments_of_complete_do_not_end_a_run() {
    let runs = Runs::shared();
    let wrong = [
        json!({"answer": "x", "confidence": 1.1}),
        json!({"answer": "x", "confidence": -0.1}),
        json!({"confidence": 1.0}),
        json!({"answer": "x", "more": 1}),
    ];
    let replies = wrong.into_iter().map(|arguments| Reply::call("__complete__", arguments));
    let run = runs.execute("s1_007", &["__complete__"], replies.chain([Reply::complete("right")]).collect());
    assert_eq!((&run["final_answer"], &run["iterations"]), (&json!("right"), &json!(5)));
    let success: Vec<_> = runs.trace(&run).iter().map(|step| step["success"].clone()).collect();
    assert_eq!(success, [false, false, false, false, true]);
}

#[test]
fn s1_011_a_run_without_complete_fails_after_its_iterations() {
    let runs = Runs::shared();
    let replies = (0..5).map(|number| Reply::call(TOOL, json!({"what": number}))).collect();
    let run = runs.execute_with(json!({"objective": "s1_011", "tools": [TOOL], "max_iterations": 3}), replies);
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("max_iterations")));
    assert_eq!(run["iterations"], 3);
    let run = runs.execute_with(
        json!({"objective": "tokens", "tools": [TOOL], "max_tokens": 150}),
        vec![Reply::call(TOOL, json!({"what": 1})), Reply::call(TOOL, json!({"what": 2}))],
    );
    assert_eq!((&run["error"]["code"], &run["tokens"]), (&json!("max_tokens"), &json!(200)));
}

#[test]
fn s1_012_calls_after_completion_are_not_made() {
    let runs = Runs::shared();
    let complete = ("__complete__".to_owned(), json!({"answer": "done"}));
    let replies = vec![Reply::Calls(vec![complete, (TOOL.to_owned(), json!({"what": "s1_012"}))])];
    let run = runs.execute("s1_012", &["__complete__", TOOL], replies);
    let trace = runs.trace(&run);
    assert_eq!((&run["status"], &trace[1]["success"], trace.len()), (&json!("completed"), &json!(false), 2));
    assert!(!runs.team.history().iter().any(|record| record.to_string().contains("s1_012")));
    assert_eq!(runs.resume(&run, &json!({"approved": true})).status, 409);
}
