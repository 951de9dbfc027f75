//! `lathe doctor`, `lathe completions`, settings files, missing programs.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};

use crate::harness::{Lathe, Options, Server, Team, eventually};

#[test]
fn the_doctor_reports_existing_programs() {
    let team = Team::new();
    let report = team.lathe().json(&["doctor"]);
    assert_eq!(report["complete"], true, "{report}");
    let names: Vec<&str> =
        report["checks"].as_array().expect("a list").iter().filter_map(|c| c["name"].as_str()).collect();
    for name in ["git", "C compiler", "esbuild", "Rust", "data directory", "runners", "build sandbox", "server"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(team.lathe().ok(&["doctor"]).contains("and the key is accepted"));
}

#[test]
fn the_doctor_reports_missing_programs() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let login =
        "url = \"http://127.0.0.1:1\"\norganization = \"o\"\nuser_id = \"u\"\napi_key_id = \"i\"\napi_key = \"k\"\n";
    std::fs::write(directory.path().join("credentials.toml"), login).expect("a login");
    let said = lathe.run(&["doctor"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("missing") && said.stdout.contains("lathe serve"), "{said:?}");
    std::fs::write(directory.path().join("file"), "").expect("a file");
    let said = lathe.run(&["doctor", "--data", "file/below"]);
    assert!(said.code == Some(1) && said.stdout.contains("not writable"), "{said:?}");
}

#[test]
fn a_server_without_the_sandbox_says_how_to_get_it_and_builds_python() {
    let arguments = ["--bubblewrap", "/nowhere/bwrap"].map(str::to_owned).to_vec();
    let server = Server::private(&Options { arguments, ..Options::default() });
    let said = eventually("the warning", || {
        let about = server.log_about("builds cannot be confined");
        (!about.is_empty()).then_some(about)
    });
    assert!(said.contains("sudo apt-get install bubblewrap"), "{said}");
    let team = Team::on(&server);
    assert_eq!(team.next_tool().published().invoke(json!({"a": 1})).output(), "{\"a\":1}");
}

/// The current directory may be another user's checkout. Its settings file names a program that must not be started.
#[test]
fn a_settings_file_in_the_current_directory_is_read_only_if_it_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let (program, trace) = (directory.path().join("bwrap"), directory.path().join("started"));
    std::fs::write(&program, format!("#!/bin/sh\ntouch {}\n", trace.display())).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    std::fs::create_dir(directory.path().join("checkout")).expect("a directory");
    // A process of root starts the program as another user.
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).expect("its mode");
    let checkout = Lathe { directory: &directory.path().join("checkout"), ..lathe };
    let settings = format!("bubblewrap = {:?}\ndata = \"theirs\"\n", program.display().to_string());
    std::fs::write(checkout.directory.join("lathe.toml"), settings).expect("a file");
    let said = checkout.run(&["doctor"]);
    assert!(!trace.exists() && said.stdout.contains("is not read unless it is named"), "{said:?}");
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["worker"], &["org", "create", "o", "--user", "u"]] {
        checkout.run(command).refused(2, &["lathe.toml", "not read unless", "--config lathe.toml"]);
    }
    assert!(!trace.exists() && !checkout.directory.join("theirs").exists());
    checkout.run(&["doctor", "--config", "lathe.toml"]);
    assert!(trace.exists(), "the named file counts");
    checkout.ok(&["org", "create", "o", "--user", "u", "--config", "/dev/null", "--data", "ours"]);
}

#[test]
fn a_server_without_git_names_the_command_that_installs_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lathe"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--data", "data"]).current_dir(directory.path());
    let output = command.env("PATH", directory.path()).env_remove("LATHE_DATA").output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("apt-get install git"), "{stderr}");
}

#[test]
fn shells_get_completions() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    for shell in ["bash", "zsh", "fish"] {
        let script = lathe.ok(&["completions", shell]);
        assert!(script.contains("LATHE_COMPLETE"), "{shell}: {script}");
    }
    let check = std::process::Command::new("bash").args(["-n", "-c", &lathe.ok(&["completions", "bash"])]).output();
    assert!(check.is_ok_and(|output| output.status.success()));
    lathe.run(&["completions", "abacus"]).refused(2, &["abacus"]);
}

#[test]
fn the_servers_of_a_database_are_listed() {
    let team = Team::new();
    let data = team.server.data().to_str().expect("a path");
    let listed = team.lathe().json(&["node", "list", "--data", data]);
    let nodes = listed["nodes"].as_array().expect("a list");
    let node = &nodes[0];
    assert_eq!((nodes.len(), &node["version"]), (1, &json!(env!("CARGO_PKG_VERSION"))), "{listed}");
    assert!(team.server.url.ends_with(node["address"].as_str().expect("an address")), "{listed}");
    assert_eq!((&node["leases"], &node["builds"], &node["runs"]), (&json!(0), &json!(0), &json!(0)), "{listed}");
    assert!(team.lathe().ok(&["node", "list", "--data", data]).contains("address"));
    let said = team.lathe().run(&["node", "list", "--data", "nowhere"]);
    assert!(said.code == Some(1) && said.stderr.contains("there is no data directory"), "{said:?}");
}

/// The database of a directory, after some statements.
fn change_database(directory: &std::path::Path, statements: &'static str) {
    let options = SqliteConnectOptions::new().filename(directory.join("lathe.db")).create_if_missing(true);
    let changed = async {
        let mut connection = SqliteConnection::connect_with(&options).await.expect("a connection");
        sqlx::raw_sql(statements).execute(&mut connection).await.expect("the statements");
        connection.close().await.expect("the end");
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(changed);
}

#[test]
fn the_doctor_and_a_worker_tell_of_a_schema_that_is_newer_or_foreign() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let check = |data: &str| {
        let report = lathe.run(&["doctor", "--json", "--data", data]);
        let report: serde_json::Value = serde_json::from_str(&report.stdout).expect("a document");
        let mut checks = report["checks"].as_array().expect("a list").iter();
        checks.find(|check| check["name"] == "database").cloned()
    };
    assert_eq!(check("none"), None);
    lathe.ok(&["org", "create", "acme", "--user", "ann", "--data", "whole"]);
    let found = check("whole").expect("a check");
    assert!(
        found["state"] == "ok" && found["detail"].as_str().expect("a text").contains("schema of this release"),
        "{found}"
    );
    change_database(
        &directory.path().join("whole"),
        "INSERT INTO schema_migrations (number, name, checksum, applied_at) VALUES (9000, 'later', 'x', 0)",
    );
    std::fs::create_dir(directory.path().join("foreign")).expect("a directory");
    change_database(
        &directory.path().join("foreign"),
        "CREATE TABLE schema_migrations (version TEXT PRIMARY KEY, dirty INTEGER); CREATE TABLE users (id INTEGER)",
    );
    for (data, text) in [("whole", "newer release"), ("foreign", "belongs to another program")] {
        let found = check(data).expect("a check");
        assert!(found["state"] == "missing" && found["detail"].as_str().expect("a text").contains(text), "{found}");
        let said = lathe.run(&["worker", "--data", data]);
        assert!(said.code == Some(1) && said.stderr.contains(text), "{said:?}");
    }
    let said = lathe.run(&["serve", "--data", "whole", "--listen", "127.0.0.1:0"]);
    assert!(said.code == Some(1) && said.stderr.contains("newer release"), "{said:?}");
}

#[test]
fn a_database_that_was_never_there_is_not_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let url = "postgres://nobody@127.0.0.1:1/none";
    let said = lathe.run(&["serve", "--data", "data", "--listen", "127.0.0.1:0", "--database", url]);
    assert!(said.code == Some(1) && said.stderr.contains("hint: check the URL in --database"), "{said:?}");
    let said = lathe.run(&["doctor", "--data", "data", "--database", url]);
    assert!(
        said.code == Some(1) && said.stdout.contains("database") && said.stdout.contains("check the URL"),
        "{said:?}"
    );
}
