//! `kill -9` during writes, runs and publications.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Bump, Options, PackageIndex, Server, Site, Team, eventually, failed_builds, input, lock_line};

#[test]
fn runs_of_a_killed_server_become_orphans() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    let id = tool.id().to_owned();
    let before = tool.invoke(json!({}));
    let three = json!({"inputs": vec![input(&site.hold()); 3]});
    std::thread::scope(|scope| {
        let cut_off = scope.spawn(|| tool.invoke_request(&three).try_send().is_err());
        site.held.is_reached_by(3);
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
    let again = json!({"inputs": [input(&json!({}))]});
    team.post(&format!("/tool/{id}/version/1.0.0/invoke"), &again).expect(200);
}

/// The same team with a new server on its data directory.
fn restarted(team: Team, server: &Arc<Server>) -> Team {
    let again = server.restarted(|_| {});
    team.moved_to(again)
}

#[test]
fn a_killed_publication_leaves_no_version_and_no_lease() {
    let index = PackageIndex::serve_held(&[]);
    let server = Server::private(&Options { python_index: Some(index.url.clone()), ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("slow").with_file("requirements.lock", &lock_line("slow", "1.0", b"never fetched")).pushed();
    let id = tool.id().to_owned();
    std::thread::scope(|scope| {
        let cut_off = scope.spawn(|| tool.publish_request(Bump::Minor).try_send().is_err());
        index.held.is_reached_by(1);
        let busy = team.delete(&format!("/tool/{id}/version/1.0.0"));
        assert_eq!(busy.status, 409, "{busy}");
        assert!(busy.detail().contains("publication") && busy.detail().contains("since"), "{busy}");
        assert_eq!(tool.publish(Bump::Minor).status, 409, "a second publication is refused at once");
        assert_eq!(team.delete(&format!("/tool/{id}")).status, 409, "so is the end of the tool");
        server.kill();
        assert!(cut_off.join().expect("no panic"));
    });
    drop(tool);
    let team = restarted(team, &server);
    let list = team.get(&format!("/tool/{id}/version"));
    assert_eq!(list["tool_versions"], json!([]));
    team.tool("slow").without_file("requirements.lock").body("return 'quick'").pushed();
    publishes_again(&team, &id);
}

/// The dead server's lease is released at the next start, or expires after half a minute.
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
