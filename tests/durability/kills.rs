//! `kill -9` in the middle of things.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Bump, Options, Server, Team, eventually, failed_builds, input, runs_going_on};

#[test]
fn runs_of_a_killed_server_become_orphans() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("sleeper").body("import time\ntime.sleep(tool_input['seconds'])\nreturn 'rested'").published();
    let id = tool.id().to_owned();
    let before = tool.invoke(json!({"seconds": 0}));
    let three = json!({"inputs": vec![input(&json!({"seconds": 25})); 3]});
    std::thread::scope(|scope| {
        let cut_off = scope.spawn(|| tool.invoke_request(&three).try_send().is_err());
        eventually("the start of three runs", || (runs_going_on(server.data()) == 3).then_some(()));
        server.kill();
        assert!(cut_off.join().expect("no panic"), "the answer never came");
    });
    drop(tool);
    let team = restarted(team, &server);
    let history = team.history();
    assert_eq!(history.len(), 4);
    let orphans: Vec<&Value> =
        history.iter().filter(|record| record["invocation_status"]["exception_type"] == "orphaned").collect();
    assert_eq!(orphans.len(), 3, "{history:?}");
    let kept = history.iter().find(|record| record["id"] == before.id()).expect("what was answered is kept");
    assert_eq!(kept["invocation_status"]["output"], "rested");
    let again = json!({"inputs": [input(&json!({"seconds": 0}))]});
    team.post(&format!("/tool/{id}/version/1.0.0/invoke"), &again).expect(200);
}

/// The same team on its data directory, with a new server.
fn restarted(team: Team, server: &Arc<Server>) -> Team {
    let again = server.restarted(|_| {});
    team.moved_to(again)
}

#[test]
fn a_killed_publication_leaves_no_version_and_no_lease() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("slow").source("import time\ntime.sleep(20)", "return ''").pushed();
    let id = tool.id().to_owned();
    std::thread::scope(|scope| {
        let cut_off = scope.spawn(|| tool.publish_request(Bump::Minor).try_send().is_err());
        let busy = eventually("the lease", || {
            let refused = team.delete(&format!("/tool/{id}/version/1.0.0"));
            (refused.status == 409).then_some(refused)
        });
        assert!(busy.detail().contains("publish") && busy.detail().contains("since"), "{busy}");
        assert_eq!(tool.publish(Bump::Minor).status, 409, "a second publication is refused at once");
        assert_eq!(team.delete(&format!("/tool/{id}")).status, 409, "so is the end of the tool");
        server.kill();
        assert!(cut_off.join().expect("no panic"));
    });
    drop(tool);
    let team = restarted(team, &server);
    let list = team.get(&format!("/tool/{id}/version"));
    assert_eq!(list["tool_versions"], json!([]));
    team.tool("slow").body("return 'quick'").pushed();
    publishes_again(&team, &id);
}

/// The lease of the dead server is cleared at the start, or runs out within its half minute.
fn publishes_again(team: &Team, id: &str) {
    let body = json!({"project_path": "tools/slow", "bump_type": "minor"});
    let published = eventually("the end of the lease", || {
        let answer = team.post(&format!("/tool/{id}/version"), &body);
        if answer.status == 409 {
            std::thread::sleep(Duration::from_millis(500));
            return None;
        }
        Some(answer)
    });
    assert_eq!(published.expect(201)["new_version"], "1.0.0");
    let builds = failed_builds(team.server.data(), id);
    assert!(builds.iter().any(|build| build.message.contains("abandoned")), "{builds:?}");
}
