//! Only one server may use a data directory.

use crate::harness::{Options, Server, Team};

#[test]
fn a_second_server_is_refused_and_the_first_continues() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let data = server.data().to_str().expect("UTF-8");
    let said = team.lathe().run(&["serve", "--listen", "127.0.0.1:0", "--data", data]);
    said.refused(1, &[data, "is in use by process", &server.process_id().to_string(), "--data"]);
    assert_eq!(said.stdout, "");
    team.get("/tool/");
}

#[test]
fn a_lock_of_a_dead_server_is_no_lock() {
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    server.kill();
    let again = server.restarted(|_| {});
    team.moved_to(again).get("/tool/");
}

#[test]
fn a_damaged_key_stops_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = crate::harness::Lathe { home: directory.path(), directory: directory.path() };
    lathe.ok(&["org", "create", "acme", "--user", "ada", "--data", "data"]);
    let key = directory.path().join("data/keys/master.key");
    let mode = |mode: u32| std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(mode));
    mode(0o644).expect("a mode");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];
    lathe.run(&serve).refused(1, &["master.key", "0600"]);
    mode(0o600).expect("a mode");
    std::fs::remove_file(&key).expect("a key");
    lathe.run(&serve).refused(1, &["master.key", "missing"]);
}
