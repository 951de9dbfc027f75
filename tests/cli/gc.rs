//! `lathe gc`.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

use registry::Digest;
use serde_json::json;

use crate::harness::{Bump, Options, Server, Team, change_database};

fn make_old(path: &Path) {
    let file = File::options().write(true).open(path).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH).expect("an old file");
}

#[test]
fn old_failed_builds_and_unused_artifacts_are_deleted_beside_a_running_server() {
    let server = Server::private(&Options { has_own_cache: true, ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("kept").body("return 'still here'").published();
    let broken = team.tool("broken").body("return )").pushed();
    let build = |failed: &crate::harness::Answer| {
        format!("/tool/{}/build/{}", broken.id(), failed.expect(400)["build_id"].as_str().expect("an id"))
    };
    let (old, recent) = (build(&broken.publish(Bump::Minor)), build(&broken.publish(Bump::Minor)));
    let old_id = old.rsplit('/').next().expect("an id");
    change_database(server.data(), &[&format!("UPDATE builds SET finished_at = 1 WHERE build = '{old_id}'")]);
    let name = Digest::of(b"unused").to_hex();
    let unused = server.data().join("artifacts").join(&name[..2]).join(&name);
    std::fs::create_dir_all(unused.parent().expect("a parent")).expect("a directory");
    std::fs::write(&unused, b"unused").expect("a file");
    let data = server.data().to_str().expect("UTF-8");
    let gc = |arguments: &[&str]| team.lathe().json(&[&["gc", "--data", data], arguments].concat());
    assert_eq!(gc(&["--dry-run"])["artifacts"]["count"], 0, "a new artifact may be that of a publication");
    server.artifacts().iter().for_each(|(path, _)| make_old(path));

    let planned = gc(&["--dry-run"]);
    let expected = json!({"count": 1, "bytes": 6});
    assert_eq!((&planned["dry_run"], &planned["artifacts"]), (&json!(true), &expected), "{planned}");
    assert_eq!(planned["failed_builds"]["count"], 1, "{planned}");
    assert!(unused.is_file());
    assert_eq!(gc(&[])["artifacts"], expected);
    assert!(!unused.exists());
    team.request("GET", &old).send().expect(404);
    team.request("GET", &recent).send().expect(200);

    // A server that reads the artifacts again, without compiled code, still has all of its versions.
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.ended();
    let id = tool.id().to_owned();
    drop((tool, broken));
    let team = team.moved_to(server.restarted(|_| {}));
    assert_eq!(team.tool("kept").with_id(&id).invoke(json!({})).output(), "still here");
}

#[test]
fn a_publication_renews_the_artifacts_that_it_uses() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let tool = team.tool("again").body("return 'again'").published();
    server.artifacts().iter().for_each(|(path, _)| make_old(path));
    tool.publish_request(Bump::Patch).header("idempotency-key", "again").send().expect(201);
    let is_new =
        |path: &Path| path.metadata().and_then(|file| file.modified()).expect("a time") > SystemTime::UNIX_EPOCH;
    for (path, _) in server.artifacts() {
        assert!(is_new(&path), "{}", path.display());
    }
}
