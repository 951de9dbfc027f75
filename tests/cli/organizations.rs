//! `lathe org` and `lathe login`.

use serde_json::Value;

use crate::harness::{Lathe, Server, Team, team::sign_in};

#[test]
fn an_organisation_is_created_beside_a_running_server() {
    let server = Server::shared();
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let data = server.data().to_str().expect("UTF-8");
    let create = ["org", "create", "beside", "--user", "ada", "--data", data];
    let key = lathe.json(&create);
    let keys: Vec<&String> = key.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["api_key", "api_key_id", "organization", "user_id"]);
    let text = |name: &str| key[name].as_str().expect("text");
    sign_in(&server, "beside", text("api_key_id"), text("api_key")).expect(200);
    lathe.run(&create).refused(1, &["`beside` already exists", "choose another name"]);
    sign_in(&server, "beside", text("api_key_id"), "lk_wrong").expect(401);
    sign_in(&server, "beside", "nobody", text("api_key")).expect(401);
    sign_in(&server, "elsewhere", text("api_key_id"), text("api_key")).expect(404);
    drop(Team::on(&server));
}

#[test]
fn an_organisation_needs_no_server() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let said = lathe.ok(&["org", "create", "first", "--user", "ada", "--data", "new/data"]);
    assert!(said.contains("api_key ") && said.contains("lathe login --org first"), "{said}");
    assert!(directory.path().join("new/data/lathe.db").is_file());
    // The directory that the settings file names.
    std::fs::write(directory.path().join("lathe.toml"), "data = \"from-file\"\n").expect("a file");
    lathe.ok(&["org", "create", "third", "--user", "ada", "--config", "lathe.toml"]);
    assert!(directory.path().join("from-file/lathe.db").is_file());
    std::fs::remove_file(directory.path().join("lathe.toml")).expect("gone");
    for name in ["", "with space", "slash/ed", &"x".repeat(129)] {
        lathe.run(&["org", "create", name, "--user", "ada"]).refused(2, &["1 to 128"]);
        lathe.run(&["org", "create", "fourth", "--user", name]).refused(2, &["1 to 128"]);
    }
    std::fs::write(directory.path().join("a-file"), "").expect("a file");
    lathe.run(&["org", "create", "fifth", "--user", "ada", "--data", "a-file"]).refused(1, &["a-file"]);
}

#[test]
fn a_command_for_an_existing_installation_creates_none() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let commands = [
        &["gc", "--dry-run"][..],
        &["gc"],
        &["org", "key", "acme", "--user", "ada"],
        &["org", "edit", "acme", "--redact-answers", "on"],
        &["org", "list"],
    ];
    let is_empty = |path: &str| std::fs::read_dir(directory.path().join(path)).expect("a directory").next().is_none();
    for command in commands {
        lathe.run(command).refused(1, &["there is no data directory", "lathe-data", "--data"]);
        lathe.run(&[command, &["--data", "no"]].concat()).refused(1, &["there is no data directory", "--data"]);
        assert!(is_empty("."), "{command:?}");
    }
    std::fs::create_dir(directory.path().join("empty")).expect("a directory");
    for command in commands {
        lathe.run(&[command, &["--data", "empty"]].concat()).refused(1, &["empty is no data directory", "--data"]);
        assert!(is_empty("empty"), "{command:?}");
    }
}

#[test]
fn an_operator_creates_a_key_for_an_organisation_without_one() {
    let team = Team::new();
    team.post("/role", &serde_json::json!({"name": "clerk", "grants": []})).expect(201);
    assert_eq!(team.delete(&format!("/api_key/{}", team.api_key_id)).code(), "last_administrator");
    let data = team.server.data().to_str().expect("UTF-8");
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let key = lathe.json(&["org", "key", &team.organization, "--user", "ada", "--data", data]);
    let text = |name: &str| key[name].as_str().expect("text");
    sign_in(&team.server, &team.organization, text("api_key_id"), text("api_key")).expect(200);
    assert_eq!(team.delete(&format!("/api_key/{}", team.api_key_id)).status, 204);
    lathe.run(&["org", "key", &team.organization, "--user", "bob", "--data", data]).refused(1, &["bob"]);
    let said = lathe.run(&["org", "key", "nowhere", "--user", "ada", "--data", data]);
    said.refused(1, &["there is no organisation `nowhere`", "lathe org list"]);
    let set = ["org", "edit", "nowhere", "--redact-answers", "on", "--data", data];
    lathe.run(&set).refused(1, &["there is no organisation `nowhere`", "lathe org list"]);
    lathe.run(&["org", "create", "..", "--user", "ada", "--data", data]).refused(1, &["must not be . or .."]);
    lathe.run(&["org", "create", "other", "--user", "me", "--data", data]).refused(1, &["must not be one of: me"]);
}

#[test]
fn a_login_is_checked_before_it_is_saved() {
    let team = Team::new();
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let login = |url: &str, org: &str, key: &str| {
        lathe.run_with(&["login", "--url", url, "--org", org, "--user", "ada", "--api-key-id", &team.api_key_id], key)
    };
    let file = directory.path().join("credentials.toml");
    login(&team.server.url, &team.organization, "lk_wrong_key").refused(1, &["hint:"]);
    login(&team.server.url, "nowhere", &team.api_key).refused(1, &["hint:"]);
    login("http://127.0.0.1:1", &team.organization, &team.api_key)
        .refused(1, &["http://127.0.0.1:1 does not answer", "lathe serve"]);
    login(&team.server.url, &team.organization, "").refused(2, &["empty"]);
    assert!(!file.exists());
    let said = login(&team.server.url, &team.organization, &team.api_key).ok();
    assert!(said.stdout.contains("git remote add lathe") && !said.stdout.contains(&team.api_key), "{said:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(lathe.json(&["tool", "list"])["tools"], Value::Array(Vec::new()));
}
