//! `lathe doctor`, `lathe completions`, settings files, missing programs.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

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
