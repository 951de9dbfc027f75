//! Servers that die, and a master key of another installation.

use tokio::time::Instant;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Bump, HeldPackage, Lathe, Nodes, Options, Site, eventually, input};

/// The first server has a run when it is killed, and never comes back.
#[test]
fn what_a_killed_server_leaves_is_closed_by_another_once() {
    let Some(nodes) = Nodes::start_with(3, &Options::reaching_loopback()) else { return };
    let (team, site) = (nodes.team(), Site::serve());
    let tool = team.tool("wait").held_by(&site).published();
    let path = format!("/tool/{}/version/%3E%3D0/invoke", tool.id());
    let body = json!({"inputs": [input(&json!({"held": site.hold()["held"]}))]});
    let records = |state: &str| -> Vec<Value> {
        let list = nodes.request(1, &team, "GET", "/tool/invocation").query(&[("state", state)]).send();
        list.expect(200)["tool_invocations"].as_array().cloned().unwrap_or_default()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| nodes.request(0, &team, "POST", &path).json(&body).try_send_to_failing().is_err());
        eventually("the start of the run", || (!records("running").is_empty()).then_some(()));
        nodes.servers[0].kill();
    });
    let killed = Instant::now();
    eventually("the end of the record", || records("running").is_empty().then_some(()));
    println!("the run of a killed server was closed after {:?}", killed.elapsed());
    let ended = records("finished");
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(ended[0]["invocation_status"]["exception_type"], "orphaned", "{ended:?}");
}

/// The publication has no other effect than its version, so another server begins it again.
#[test]
fn a_publication_of_a_killed_server_goes_on_at_another() {
    let package = HeldPackage::new("outlived");
    let options = Options { python_index: Some(package.index.url.clone()), ..Options::default() };
    let Some(nodes) = Nodes::start_with(3, &options) else { return };
    let team = nodes.team();
    let tool = team.tool("slow").with_file("requirements.lock", &package.lock_line).pushed();
    let accepted = tool.publish_request(Bump::Minor).header("prefer", "respond-async").send().expect(202);
    let operation = format!("/operation/{}", accepted["id"].as_str().expect("an id"));
    package.index.held.is_reached_by(1);
    nodes.servers[0].kill();
    let killed = Instant::now();
    package.index.held.open();
    let ended = eventually("the end of the publication", || {
        let operation = nodes.request(1, &team, "GET", &operation).send().expect(200);
        (operation["status"] != "running").then_some(operation)
    });
    println!("the publication of a killed server ended after {:?}", killed.elapsed());
    assert_eq!((&ended["http_status"], &ended["result"]), (&json!(201), &json!({"new_version": "1.0.0"})), "{ended}");
    let versions = nodes.request(2, &team, "GET", &format!("/tool/{}/version", tool.id())).send().expect(200);
    assert_eq!(versions["tool_versions"].as_array().map(Vec::len), Some(1));
}

/// A server that was paused for so long that another one closed its runs goes on, and its run is not recorded twice.
#[test]
fn a_paused_server_writes_nothing_stale() {
    let Some(nodes) = Nodes::start_with(2, &Options::reaching_loopback()) else { return };
    let (team, site) = (nodes.team(), Site::serve());
    let tool = team.tool("wait").held_by(&site).published();
    let path = format!("/tool/{}/version/%3E%3D0/invoke", tool.id());
    let body = json!({"inputs": [input(&json!({"held": site.hold()["held"]}))]});
    let ended = || -> Vec<Value> {
        let list = nodes.request(1, &team, "GET", "/tool/invocation").query(&[("state", "finished")]).send();
        list.expect(200)["tool_invocations"].as_array().cloned().unwrap_or_default()
    };
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| nodes.request(0, &team, "POST", &path).json(&body).send());
        site.held.is_reached_by(1);
        nodes.servers[0].signal(Signal::SIGSTOP);
        eventually("the end of the record", || (!ended().is_empty()).then_some(()));
        nodes.servers[0].signal(Signal::SIGCONT);
        site.held.open();
        call.join().expect("an answer")
    });
    assert_eq!((answer.status, answer.code()), (409, "invocation_already_finished".into()));
    assert_eq!(ended().len(), 1);
    assert_eq!(ended()[0]["invocation_status"]["exception_type"], "orphaned");
    let again = nodes.request(0, &team, "POST", &path).json(&json!({"inputs": [input(&json!({}))]})).send();
    assert_eq!(again.expect(200)["invocation_results"][0]["output"], "rested");
}

#[test]
fn a_server_with_another_master_key_does_not_start() {
    let Some(nodes) = Nodes::start(1) else { return };
    let team = nodes.team();
    let lathe = Lathe { home: team.home(), directory: team.home() };
    let database = nodes.servers[0].database().expect("a URL");
    let said = lathe.run(&["serve", "--listen", "127.0.0.1:0", "--data", "other", "--database", database]);
    said.refused(1, &["the master key is not the one of this database", "keys/master.key"]);
}

#[test]
fn a_wrong_url_is_refused_with_a_hint() {
    let lathe = Lathe { home: &std::env::temp_dir(), directory: &std::env::temp_dir() };
    for (url, words) in [
        ("mysql://host/x", ["--database", "postgres://user:password@host:5432/database"]),
        ("postgres://nobody@127.0.0.1:1/x", ["the database is unavailable", "refused"]),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let data = directory.path().join("data");
        let arguments =
            ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().expect("UTF-8"), "--database", url];
        let said = lathe.run(&arguments);
        assert_ne!(said.code, Some(0));
        for word in words {
            assert!(said.stderr.contains(word), "{word:?} is missing in {said:?}");
        }
        assert!(!said.stderr.contains("nobody@"), "the URL may contain a password: {said:?}");
    }
}
