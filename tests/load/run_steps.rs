//! What a step of a run costs the processor of the server when time has passed since the last one, as models think for seconds: with an
//! agent that has many tools, beside one that has one.

use std::time::Duration;

use serde_json::{Value, json};

use super::{RUST_TOOL, measured};
use crate::agent_runs::runs::{Runs, options};
use crate::harness::{ModelEndpoint, Reply, Server, Team};
use crate::hostile::installed::{Installer, Settings};
use crate::mcp::client::Gateway;

/// Tools of the large agent.
const TOOLS: usize = 56;
/// Tools of the large agent in a plain test run.
const FEW_TOOLS: usize = 3;
const ROUNDS: usize = 20;
/// Time between two steps, in which nothing else happens.
const PAUSE: Duration = Duration::from_millis(1_500);
/// Milliseconds of a tick of the clock in `/proc`.
const TICK_MS: u64 = 10;

#[test]
fn steps_of_runs_under_load() {
    let (_, is_long) = measured();
    let (count, rounds, pause) = if is_long { (TOOLS, ROUNDS, PAUSE) } else { (FEW_TOOLS, 1, Duration::ZERO) };
    let model = ModelEndpoint::serve();
    let server = Server::private(&options(&model));
    let team = Team::on(&server);
    let installer = Installer::new(&team);
    let names: Vec<String> = (0..count).map(|number| format!("tool_{number}")).collect();
    for name in &names {
        installer.install(name, RUST_TOOL, Settings::default());
    }
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    Gateway::of_type(&team, "many", "agent").with(&all);
    Gateway::of_type(&team, "few", "agent").with(&all[..1]);
    let runs = Runs { team, model };
    let [few, many] = [("few", &all[..1]), ("many", &all[..])].map(|(agent, tools)| {
        let costs = (0..rounds).map(|round| step(&runs, agent, tools, &format!("{agent} {round}"), pause));
        let ms = costs.sum::<u64>() as f64 / rounds as f64;
        println!("a run of one step with {} tools, after a pause: {ms:.1} ms of the processor", tools.len());
        ms
    });
    println!("{:.2} times a run with one tool", many / few.max(1.0));
}

/// The milliseconds of the processor that a run of one step takes.
fn step(runs: &Runs, agent: &str, tools: &[&str], objective: &str, pause: Duration) -> u64 {
    std::thread::sleep(pause);
    let tools: Vec<&str> = tools.iter().copied().chain(["__complete__"]).collect();
    let before = processor_ms(&runs.team.server);
    let run: Value = runs
        .execute_with(json!({"objective": objective, "agent": agent, "tools": tools}), vec![Reply::complete("done")]);
    assert_eq!(run["status"], "completed", "{run}");
    processor_ms(&runs.team.server) - before
}

fn processor_ms(server: &Server) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.process_id())).expect("the server runs");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<u64>().expect("ticks");
    (ticks(11) + ticks(12)) * TICK_MS
}
