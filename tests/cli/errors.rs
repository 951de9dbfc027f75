//! Errors for programs, and the order of arguments in usage lines.

use crate::harness::{Lathe, Team};

#[test]
fn an_error_has_a_stable_code() {
    let team = Team::new();
    let lathe = team.lathe();
    let code = |arguments: &[&str]| {
        let said = lathe.run(&[&["--json"], arguments].concat());
        assert!(said.code != Some(0), "{said:?}");
        let error = said.document()["error"].clone();
        assert!(error["message"].is_string() && error.get("hint").is_some(), "{error}");
        error["code"].as_str().expect("a code").to_owned()
    };
    assert_eq!(code(&["tool", "show", "nothing"]), "not_found");
    assert_eq!(code(&["history", "show", &"0".repeat(24)]), "not_found");
    assert_eq!(code(&["user", "create", "bob", "--role", "baker"]), "role_unknown");
    assert_eq!(code(&["tool", "invoke", "x", "--input", "{"]), "invalid_command_line");
    assert_eq!(code(&["tool", "bake"]), "invalid_command_line");
    assert_eq!(code(&["--profile", "other", "whoami"]), "not_logged_in");
    assert_eq!(code(&["role", "create", "r", "--file", "no/such/file"]), "local_failure");
    lathe.run(&["-v", "user", "create", "bob", "--role", "baker"]).refused(1, &["code: role_unknown, HTTP status 400"]);
    let quiet = lathe.run(&["user", "create", "bob", "--role", "baker"]);
    assert!(!quiet.stderr.contains("role_unknown"), "{quiet:?}");
}

#[test]
fn usage_lines_have_the_arguments_in_their_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let usage = |arguments: &[&str], line: &str| lathe.run(arguments).refused(2, &[line]);
    usage(&["tool", "publish"], "Usage: lathe tool publish <TOOL> --bump <BUMP> [OPTIONS]");
    usage(&["tool", "create"], "Usage: lathe tool create <NAME> --description <DESCRIPTION> [OPTIONS]");
    usage(&["tool", "log"], "Usage: lathe tool log <TOOL> <BUILD_ID|--version <VERSION>> [OPTIONS]");
    assert!(
        lathe.ok(&["envvar", "set", "--help"]).contains("Usage: lathe envvar set <TOOL> [NAME[=VALUE]]... [OPTIONS]")
    );
}

#[test]
fn the_version_is_printed() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(lathe.ok(&["version"]).trim(), format!("lathe {version}"));
    assert_eq!(lathe.json(&["version"])["version"], version);
}
