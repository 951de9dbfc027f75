//! Invalid command lines and invalid settings.

use crate::harness::{Lathe, Team};

#[test]
fn an_invalid_command_line_ends_with_exit_code_2() {
    let team = Team::new();
    let lathe = team.lathe();
    let refused = |arguments: &[&str], words: &[&str]| lathe.run(arguments).refused(2, words);
    refused(&["bake"], &["bake", "Usage"]);
    refused(&[], &["Usage"]);
    refused(&["tool"], &["Usage"]);
    refused(&["tool", "new"], &["NAME"]);
    refused(&["tool", "new", "Bad-Name"], &["hint:"]);
    refused(&["tool", "publish", "x", "--bump", "huge"], &["huge", "minor"]);
    refused(&["tool", "invoke", "x", "--input", "{"], &["not JSON", "hint:"]);
    refused(&["tool", "invoke", "x", "--input", "[1]"], &["not an object"]);
    refused(&["tool", "invoke", "x", "--mode", "dry"], &["dry"]);
    let eleven: Vec<&str> = [&["tool", "invoke", "x"][..], &["-i", "{}"].repeat(11)].concat();
    refused(&eleven, &["too many inputs: 11", "ten"]);
    refused(&["envvar", "set", "x", "NO_SUCH_VARIABLE_HERE"], &["NO_SUCH_VARIABLE_HERE"]);
    refused(&["envvar", "set", "x", "A=1", "A=2"], &["twice"]);
    refused(&["history", "list", "--failed", "--succeeded"], &["--succeeded"]);
    refused(&["org", "create", "x"], &["--user"]);
    refused(&["serve", "--listen", "nowhere"], &["nowhere"]);
    refused(&["serve", "--parallel-runs", "0"], &["0"]);
    refused(&["serve", "--log", "api=loudly"], &["loudly"]);
    assert_eq!(lathe.run(&["--help"]).code, Some(0));
    assert_eq!(lathe.run(&["--version"]).code, Some(0));
}

#[test]
fn a_missing_file_or_login_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    lathe.run(&["tool", "list"]).refused(1, &["not logged in", "lathe login"]);
    lathe.run(&["history", "list"]).refused(1, &["not logged in"]);
    lathe.run(&["serve", "--config", "missing.toml"]).refused(1, &["missing.toml"]);
    std::fs::write(directory.path().join("lathe.toml"), "\nlisen = \"127.0.0.1:1\"\n").expect("a file");
    lathe.run(&["serve", "--config", "lathe.toml"]).refused(2, &["lathe.toml:2: lisen", "hint:"]);
    std::fs::write(directory.path().join("credentials.toml"), "api_key = \"k\"\n=").expect("a file");
    let damaged = lathe.run(&["tool", "list"]);
    damaged.refused(1, &["credentials.toml", "lathe login"]);
}

#[test]
fn an_address_in_use_is_named() {
    let team = Team::new();
    let address = team.server.address().to_string();
    let said = team.lathe().run(&["serve", "--listen", &address, "--data", "other"]);
    said.refused(1, &[&address, "--listen"]);
}
