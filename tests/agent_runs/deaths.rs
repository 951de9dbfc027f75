//! Runs whose server dies.

use serde_json::json;

use super::runs::{AGENT, Runs, TOOL, agent, options};
use crate::harness::{Latch, ModelEndpoint, Nodes, Options, Reply, Server, Site, Team};

/// The server is killed while the model thinks: the model is asked again.
#[test]
fn a_run_goes_on_after_a_restart() {
    let model = ModelEndpoint::serve();
    let server = Server::private(&options(&model));
    let team = Team::on(&server);
    agent(&team);
    let runs = Runs { team, model };
    let latch = Latch::default();
    let held = Reply::Held(latch.clone(), Box::new(Reply::complete("never heard")));
    runs.model.answers("restart", vec![Reply::call(TOOL, json!({"what": "restart"})), held, Reply::complete("done")]);
    let body = json!({"agent": AGENT, "objective": "restart", "tools": [TOOL, "__complete__"]});
    let run = runs.post("/agents/execute?async=true", &body).expect(202);
    latch.is_reached_by(1);
    server.kill();
    let Runs { team, model } = runs;
    let runs = Runs { team: team.moved_to(server.restarted(|_| {})), model };
    let ended = runs.becomes(&run, "completed");
    assert_eq!((&ended["final_answer"], &ended["iterations"]), (&json!("done"), &json!(2)));
    assert_eq!(runs.trace(&run).len(), 2, "the call before is not made again");
    latch.open();
}

/// A server is killed during a call of a tool: another one goes on, and the model learns that the call was cut off.
#[test]
fn another_server_goes_on_with_a_run() {
    let (site, model) = (Site::serve(), ModelEndpoint::serve());
    let arguments = [Options::reaching_loopback().arguments, options(&model).arguments].concat();
    let Some(nodes) = Nodes::start_with(2, &Options { arguments, ..options(&model) }) else { return };
    let team = nodes.team();
    let _tool = team.tool("slow").held_by(&site).published();
    for command in [
        &["agent", "create", AGENT, "--type", "agent", "--scope", "organization", "--description", "Clerk."][..],
        &["agent", "assign", AGENT, "slow"],
        &["agent", "deploy", AGENT],
    ] {
        team.lathe().ok(command);
    }
    model.answers("death", vec![Reply::call("slow", json!({"held": site.url("/held")})), Reply::complete("looked")]);
    let runs = Runs { team, model };
    let body = json!({"agent": AGENT, "objective": "death", "tools": ["slow", "__complete__"]});
    let run = runs.post("/agents/execute?async=true", &body).expect(202);
    site.held.is_reached_by(1);
    nodes.servers[0].kill();
    let runs = Runs { team: runs.team.at(&nodes.servers[1]), model: runs.model };
    let ended = runs.becomes(&run, "completed");
    assert_eq!((&ended["final_answer"], &ended["iterations"]), (&json!("looked"), &json!(2)));
    assert!(runs.last_observation("death").starts_with("interrupted"), "{}", runs.last_observation("death"));
    site.held.open();
}
