//! `doctor` and `completions`.

use serde_json::json;

use crate::harness::{Lathe, Options, Server, Team, eventually};

#[test]
fn a_doctor_says_what_is_there() {
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
fn a_doctor_says_what_is_missing() {
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
        assert!(script.contains("publish"), "{shell}: {script}");
    }
    let check = std::process::Command::new("bash").args(["-n", "-c", &lathe.ok(&["completions", "bash"])]).output();
    assert!(check.is_ok_and(|output| output.status.success()));
    lathe.run(&["completions", "abacus"]).refused(2, &["abacus"]);
}
