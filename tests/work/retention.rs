//! The retention of the history, and legal holds, over HTTP and the command line.

use nix::sys::signal::Signal;
use serde_json::json;

use crate::harness::{Options, Server, Team, change_database, check_integrity, eventually};

/// Copies all runs to ones of the year 2012.
const COPY: [&str; 2] = [
    "INSERT INTO inv_started (invocation, organization, started_at, boot, tool, major, minor, patch, account, mode, source_kind,
            source, input)
        SELECT '50000000' || substr(invocation, 9), organization, 1342177280000, boot, tool, major, minor, patch, account,
            mode, source_kind, source, input
        FROM inv_started",
    "INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output, exception_type,
            exception_message, exception_stack_trace, persisted, status_events, logs, ledger)
        SELECT '50000000' || substr(invocation, 9), organization, 1342177281000, duration_ms, succeeded, output,
            exception_type, exception_message, exception_stack_trace, persisted, status_events, logs, ledger
        FROM inv_finished",
];

/// Stops the server, changes its database, and returns it after it has swept.
fn after_a_sweep(team: Team, changes: &[&str]) -> Team {
    let server = team.server.clone();
    server.signal(Signal::SIGTERM);
    server.ended();
    change_database(server.data(), changes);
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    eventually("the sweep", || (!server.log_about("expired runs are deleted").is_empty()).then_some(()));
    team
}

#[test]
fn old_runs_are_deleted_unless_a_hold_keeps_them() {
    let arguments = vec!["--history-days".into(), "30".into()];
    let server = Server::private(&Options { arguments, ..Options::default() });
    let team = Team::on(&server);
    let (kept, deleted) = (team.tool("kept").published(), team.tool("deleted").published());
    let runs = [kept.invoke(json!({})), deleted.invoke(json!({}))].map(|run| run.id().to_owned());
    let old = runs.each_ref().map(|run| format!("/tool/invocation/50000000{}", &run[8..]));
    let status = |team: &Team, path: &str| team.request("GET", path).send().status;

    let placed =
        team.lathe().json(&["history", "hold", "create", "case 2026-117", "--tool", "kept", "--before", "2020-01-01"]);
    let hold = placed["hold_id"].as_str().unwrap().to_owned();
    assert_eq!(placed["started_before"], "2020-01-01T00:00:00.000Z");
    let auditor = team.joined_by("auditor-1", "auditor");
    assert_eq!(auditor.get("/history_hold")["holds"], json!([placed]));
    assert_eq!(auditor.post("/history_hold", &json!({"reason": "x"})).status, 403);
    assert_eq!(auditor.post(&format!("/history_hold/{hold}/release"), &json!({})).status, 403);

    let team = after_a_sweep(team, &COPY);
    assert_eq!(old.each_ref().map(|path| status(&team, path)), [200, 404]);
    for run in &runs {
        assert_eq!(status(&team, &format!("/tool/invocation/{run}")), 200, "it is young");
    }
    team.post(&format!("/history_hold/{hold}/release"), &json!({})).expect(204);
    let listed = team.get("/history_hold")["holds"][0].clone();
    assert!(listed["released_at"].is_string() && listed["released_by"].is_string(), "{listed}");
    assert_eq!(status(&team, &old[0]), 200, "a release deletes nothing");
    let team = after_a_sweep(team, &[]);
    eventually("the deletion", || (status(&team, &old[0]) == 404).then_some(()));
    assert_eq!(check_integrity(team.server.data()), "ok");
}

#[test]
fn holds_are_managed_on_the_command_line() {
    let team = Team::new();
    let lathe = team.lathe();
    let placed = lathe.json(&["history", "hold", "create", "case 2026-118", "--since", "2026-01-01"]);
    let hold = placed["hold_id"].as_str().unwrap();
    let text = lathe.ok(&["history", "hold", "list"]);
    assert!(text.contains(hold) && text.contains("case 2026-118"), "{text}");
    lathe.ok(&["history", "hold", "release", hold]);
    let listed = lathe.json(&["history", "hold", "list"]);
    let listed = &listed["holds"][0];
    assert!(listed["released_at"].is_string() && listed["released_by"].is_string(), "{listed}");
    lathe.run(&["history", "hold", "release", &"f".repeat(24)]).refused(1, &["there is no hold"]);
}
