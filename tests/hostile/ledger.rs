//! Ledgers of runs that are stopped.

use registry::RunBounds;
use serde_json::{Value, json};

use super::case::guest;
use super::component::component;
use super::installed::{Installer, Settings};
use crate::harness::Team;

/// Runs a guest that is stopped, and returns the ledger of the run.
fn ledger(team: &Team, name: &str, text: &str, kind: &str) -> Value {
    let tool = team.tool(name);
    tool.set_variables(&[("REGION", "north", false)]);
    let limits = RunBounds { cpu_ms: Some(200), ..RunBounds::default() };
    let timeout_ms = if kind == "timeout_wall" { 2_000 } else { 300_000 };
    let settings = Settings { timeout_ms, limits, required_envvars: &["REGION"], ..Settings::default() };
    Installer::new(team).publish(&tool, &component(text), settings);
    let run = tool.invoke(json!({"n": "00000"}));
    assert_eq!(run.failure().kind, kind, "{run}");
    let ledger = team.get(&format!("/tool/invocation/{}", run.id()))["ledger"].clone();
    assert_eq!(ledger["granted"]["envvars"], json!(["REGION"]));
    ledger
}

#[test]
fn a_tool_stopped_before_its_call_has_read_nothing_and_a_sleeper_computes_nothing() {
    let server = super::server();
    let team = Team::on(&server);
    let (name, text) = guest!("sleeps");
    let sleeper = ledger(&team, name, text, "timeout_wall");
    assert_eq!(sleeper["used"]["envvars"], json!(["REGION"]), "{sleeper}");
    let (name, text) = guest!("loops_in_start");
    let busy = ledger(&team, name, text, "timeout_cpu");
    assert_eq!(busy["used"]["envvars"], json!([]), "{busy}");
    let part = |ledger: &Value, name: &str| ledger["cost"][name].as_u64().expect("a number");
    // Compared within a run, since a busy machine makes every part longer.
    assert!(part(&sleeper, "waiting_us") > 2 * part(&sleeper, "guest_us"), "{sleeper}");
    assert!(part(&busy, "guest_us") >= 190_000 && part(&busy, "host_us") < part(&busy, "guest_us") / 10, "{busy}");
}
