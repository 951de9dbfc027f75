//! `lathe run`: people start, follow, list, read and cancel runs.

use serde_json::{Value, json};

use super::runs::{AGENT, Runs, TOOL, id};
use crate::harness::{Reply, Team};

fn look_up() -> Reply {
    Reply::call(TOOL, json!({"what": "orders"}))
}

#[test]
fn a_run_is_started_and_followed_to_its_answer() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    runs.model.answers("command start", vec![look_up(), Reply::complete("Ann has two orders.")]);
    let said = lathe.run(&["run", "start", AGENT, "command start"]).ok();
    assert!(said.stdout.contains("completed") && said.stdout.contains("Ann has two orders."), "{said:?}");
    assert!(said.stderr.contains(TOOL) && said.stderr.contains("found orders"), "the steps: {said:?}");
    // Without --tool, the model sees the tools of the agent and the control tools.
    let received = runs.model.received("command start");
    let seen = received[0].body["tools"].to_string();
    for tool in [TOOL, "__complete__", "__pause_for_human__", "__log_progress__"] {
        assert!(seen.contains(tool), "{tool} in {seen}");
    }
    let (list, found) =
        (lathe.json(&["run", "list", "--agent", AGENT]), |run: &Value| run["objective"] == "command start");
    let run = list["agent_runs"].as_array().expect("runs").iter().find(|run| found(run)).expect("the run").clone();
    let shown = lathe.ok(&["run", "show", id(&run)]);
    assert!(shown.contains("Ann has two orders.") && shown.contains("command start"), "{shown}");
    assert_eq!(lathe.json(&["run", "show", id(&run)])["status"], "completed");
    let trace = lathe.ok(&["run", "trace", id(&run)]);
    assert!(trace.contains("look_up {\"what\":\"orders\"}") && trace.contains("found orders"), "{trace}");
    assert_eq!(lathe.json(&["run", "trace", id(&run)])["trace"], json!(runs.trace(&run)));
    assert!(lathe.ok(&["run", "follow", id(&run)]).contains("Ann has two orders."));
}

#[test]
fn a_detached_run_is_cancelled() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    runs.model.answers("command cancel", vec![Reply::call("__pause_for_human__", json!({"question": "Which Ann?"}))]);
    let arguments =
        ["run", "start", AGENT, "command cancel", "--detach", "--max-iterations", "3", "-t", "__pause_for_human__"];
    let started = lathe.json(&arguments);
    runs.becomes(&started, "paused");
    let followed = lathe.ok(&["run", "follow", id(&started)]);
    assert!(followed.contains("Which Ann?") && followed.contains("lathe inbox show"), "{followed}");
    assert!(lathe.ok(&["run", "list", "--status", "paused"]).contains(id(&started)));
    assert!(lathe.ok(&["run", "cancel", id(&started)]).contains("cancelled"));
    lathe.run(&["run", "cancel", id(&started)]).refused(1, &["not in progress"]);
    assert_eq!(lathe.run(&["run", "follow", id(&started)]).code, Some(1), "a cancelled run has no answer");
}

#[test]
fn mistakes_with_runs_are_named() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let unknown = "f".repeat(24);
    for command in ["show", "trace", "follow", "cancel"] {
        lathe.run(&["run", command, &unknown]).refused(1, &["there is no run `ffff", "lathe run list"]);
        lathe.run(&["run", command, "nowhere"]).refused(1, &["error: RUN: ", "lathe run list"]);
    }
    lathe.run(&["run", "start", "nobody", "x"]).refused(1, &["there is no agent `nobody`"]);
    lathe.run(&["run", "start", AGENT, "x", "--context", "[1]"]).refused(2, &["--context is JSON, but not an object"]);
    lathe.run(&["run", "start", AGENT, "x", "--max-iterations", "0"]).refused(1, &["--max-iterations"]);
    lathe.run(&["run", "list", "--status", "done"]).refused(2, &["completed"]);
    lathe.run(&["run", "start", AGENT, "x", "--tool", "nothing"]).refused(1, &["nothing", "lathe agent tools AGENT"]);
    let stranger = Team::on(&runs.team.server);
    assert!(stranger.lathe().run(&["run", "list"]).ok().stderr.contains("lathe run start"));
    stranger.lathe().ok(&["agent", "create", "new", "--description", "Undeployed."]);
    stranger
        .lathe()
        .run(&["run", "start", "new", "x"])
        .refused(1, &["no deployed revision of new", "lathe agent deploy new"]);
}
