//! The state of an operation after its server died.

use serde_json::{Value, json};

use super::{begun, call, ended, sent};
use crate::harness::{HeldPackage, Options, Server, Site, Team, eventually, input};

#[test]
fn a_call_that_was_cut_off_is_not_run_again() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = team.tool("sleeper").held_by(&site).published();
    let path = super::invoke_path(&tool);
    let body = json!({"inputs": [input(&json!({})), input(&site.hold())]});
    let stream = sent(&team, &path, "idempotency-key: k\r\n", &body);
    site.held.is_reached_by(1);
    eventually("the end of one run of two", || (team.history().len() == 1).then_some(()));
    let later = team.request("POST", &path).header("prefer", "respond-async").json(&call(&site.hold()));
    let location = later.send().headers["location"].to_str().expect("text").to_owned();
    site.held.is_reached_by(2);
    server.kill();
    drop((stream, tool));
    let team = team.moved_to(server.restarted(|_| {}));
    let again = || team.request("POST", &path).header("idempotency-key", "k").json(&body).send();
    let refused = again();
    refused.expect(409);
    assert_eq!(refused.code(), "operation_interrupted");
    assert!(!refused.headers.contains_key("retry-after"), "waiting does not help: {refused}");
    let runs = refused.json()["invocation_ids"].as_array().expect("the runs").clone();
    let status = |run: &Value| {
        team.get(&format!("/tool/invocation/{}", run.as_str().expect("an id")))["invocation_status"].clone()
    };
    assert_eq!(runs.len(), 2);
    assert_eq!(status(&runs[0])["output"], "rested");
    assert_eq!(status(&runs[1])["exception_type"], "orphaned");
    let operation = ended(&team, &location);
    assert_eq!((&operation["status"], &operation["http_status"]), (&json!("failed"), &json!(409)));
    assert_eq!(operation["error"]["code"], "operation_interrupted");
    assert_eq!(again().body, refused.body);
    assert_eq!(team.history().len(), 3);
}

#[test]
fn a_command_whose_server_dies_names_the_next_step() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let _tool = team.tool("sleeper").held_by(&site).published();
    let (lathe, hold) = (team.lathe(), site.hold().to_string());
    std::thread::scope(|scope| {
        let said = scope.spawn(|| lathe.run(&["tool", "invoke", "sleeper", "--input", &hold]));
        site.held.is_reached_by(1);
        server.kill();
        said.join().expect("no panic").refused(1, &["was lost before the result", "`lathe history list`"]);
    });
}

#[test]
fn a_version_is_found_again_after_a_restart() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("made").body("return 'made'").pushed();
    let path = format!("/tool/{}/version", tool.id());
    let body = json!({"project_path": tool.path(), "bump_type": "minor"});
    drop(begun(&team, &path, "idempotency-key: k\r\n", &body));
    eventually("the version", || (tool.versions() == ["1.0.0"]).then_some(()));
    server.kill();
    drop(tool);
    let team = team.moved_to(server.restarted(|_| {}));
    let again = team.request("POST", &path).header("idempotency-key", "k").json(&body).send();
    assert_eq!(again.expect(201), json!({"new_version": "1.0.0"}));
    let versions = team.get(&path);
    assert_eq!(versions["tool_versions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_publication_that_was_cut_off_goes_on_after_the_restart() {
    let package = HeldPackage::new("restarted");
    let server = Server::private(&Options { python_index: Some(package.index.url.clone()), ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("slow").with_file("requirements.lock", &package.lock_line).pushed();
    let path = format!("/tool/{}/version", tool.id());
    let body = json!({"project_path": tool.path(), "bump_type": "minor"});
    let request = |team: &Team| team.request("POST", &path).header("idempotency-key", "k").json(&body).send();
    let stream = begun(&team, &path, "idempotency-key: k\r\n", &body);
    let busy = request(&team);
    busy.expect(409);
    assert_eq!(busy.code(), "request_in_progress");
    let operation = busy.json()["operation_id"].as_str().expect("an id").to_owned();
    server.kill();
    drop((stream, tool));
    let team = team.moved_to(server.restarted(|_| {}));
    let location = format!("/v1/{}/operation/{operation}", team.organization);
    assert_eq!(team.get(&format!("/operation/{operation}"))["status"], "running");
    package.index.held.open();
    let operation = ended(&team, &location);
    assert_eq!((&operation["status"], &operation["result"]), (&json!("succeeded"), &json!({"new_version": "1.0.0"})));
    assert_eq!(request(&team).expect(201), json!({"new_version": "1.0.0"}));
    assert_eq!(team.get(&path)["tool_versions"].as_array().map(Vec::len), Some(1));
}
