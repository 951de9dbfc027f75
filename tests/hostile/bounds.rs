//! Limits of a run: the defaults, those of a version, and the operator's upper bounds of both.

use serde_json::json;

use crate::harness::{Options, Run, Server, Team, Tool};

const BODY: &str = "
    for number in range(tool_input.get('events', 0)):
        send_status_event(f'event {number}')
    print('p' * tool_input.get('prints', 0))
    return 'x' * tool_input.get('says', 0)
";

#[test]
fn a_version_sets_its_limits_and_the_operator_bounds_them() {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    std::fs::write(&file, "[run_limits]\noutput_characters = 30\nmemory_mb = 64\n").expect("settings");
    let arguments = vec!["--config".to_owned(), file.path().to_str().expect("UTF-8").to_owned()];
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let plain = team.tool("plain").body(BODY).published();
    let limits = "limits = { output_characters = 20, status_events = 2, log_kb = 1 }";
    let modest = team.tool("modest").body(BODY).manifest(limits).published();
    let greedy = team.tool("greedy").body(BODY).manifest("limits = { output_characters = 9_000 }").published();

    for (tool, longest) in [(&plain, 30), (&modest, 20), (&greedy, 30)] {
        assert_eq!(tool.invoke(json!({"says": longest})).output(), "x".repeat(longest));
        let failure = tool.invoke(json!({"says": longest + 1})).failure();
        assert_eq!(failure.kind, "output_too_large");
        assert!(failure.message.contains(&longest.to_string()), "{failure:?}");
    }
    let events = |tool: &Tool<'_>| record(&team, &tool.invoke(json!({"events": 5})))["ledger"]["used"].clone();
    assert_eq!(events(&plain)["status_events"], 5);
    assert_eq!(events(&modest)["status_events"], 2);
    let printed = record(&team, &modest.invoke(json!({"prints": 5_000})));
    assert_eq!(printed["logs"].as_str().map(str::len), Some(1_024 + "\n[truncated]".len()));
    assert_eq!(printed["ledger"]["granted"]["memory_bytes"], 64 << 20);
    let brief = team.tool("brief").body(BODY).manifest("limits = { status_event_bytes = 20 }").published();
    let ledger = record(&team, &brief.invoke(json!({"events": 5})))["ledger"].clone();
    assert_eq!((&ledger["used"]["status_events"], &ledger["refused"]["status_events"]), (&json!(0), &json!(5)));
    let detail = team.get(&format!("/tool/{}/version/1.0.0", modest.id()));
    let expected = json!({"output_characters": 20, "status_events": 2, "log_bytes": 1_024});
    assert_eq!(detail["settings"]["limits"], expected);
}

fn record(team: &Team, run: &Run) -> serde_json::Value {
    team.get(&format!("/tool/invocation/{}", run.id()))
}
