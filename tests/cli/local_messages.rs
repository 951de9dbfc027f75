//! What `lathe tool test` says about a project that it refuses, and checks that answer calls of other tools.

use std::fs;

use serde_json::{Value, json};

use super::local::{Project, echo};

#[test]
fn a_check_answers_calls_of_other_tools() {
    let project = Project::new("return {'weather': (await call_tool('weather', tool_input)).text}");
    let source = fs::read_to_string(project.path().join("tool.py")).expect("the source");
    project.write("tool.py", &format!("from amigo_tool_scaffold.tools import call_tool\n\n{source}"));
    project.append("pyproject.toml", "calls = { weather = '' }\n");
    let mocks = json!([
        {"tool": "weather", "arguments": {"city": "Oslo"}, "output": "snow"},
        {"tool": "weather", "arguments": {"city": "Atlantis"}, "error": {"exception_type": "KeyError", "message": "no city"}},
    ]);
    let check = |city: &str, expected: (&str, Value)| {
        let mut check = json!({"input_parameters": {"city": city}, "tool_mocks": mocks});
        check[expected.0] = expected.1;
        project.check(city, &check);
    };
    check("Oslo", ("expected_output", json!({"weather": "snow"})));
    check("Atlantis", ("expected_error", json!({"exception_type": "ToolCallError", "message_contains": "no city"})));
    let said = project.test(&[]).ok();
    assert!(said.stdout.contains("2 checks passed"), "{said:?}");
    check("Paris", ("expected_output", json!({})));
    let said = project.test(&[]);
    said.refused(1, &[]);
    assert!(
        said.stdout.contains("the call of the tool weather with {\"city\"") && said.stdout.contains("tool_mocks"),
        "{said:?}"
    );
}

#[test]
fn a_registry_that_is_down_is_named_with_the_cause() {
    let project = echo();
    project.write("pyproject.toml", "[project]\nname = \"alone\"\ndependencies = [\"six\"]\n\n[tool.lathe]\n");
    project.write("requirements.lock", &format!("six==1.16.0 --hash=sha256:{}\n", "0".repeat(64)));
    let said = project.test(&["--python-index", "http://user:s3cret@127.0.0.1:1/simple"]);
    said.refused(1, &[
        "requirements.lock:1: six==1.16.0 cannot be fetched from http://127.0.0.1:1/simple/six/: Connection refused",
        "--python-index or LATHE_PYTHON_INDEX",
        "`lathe doctor` checks the toolchains and the package registries of this machine",
    ]);
    assert!(!said.stderr.contains("s3cret") && !said.stderr.contains("fix the project"), "{said:?}");
}

#[test]
fn a_missing_rust_toolchain_is_told_with_the_setting() {
    let project = echo();
    fs::remove_file(project.path().join("pyproject.toml")).expect("removed");
    let package = "[package]\nname = \"alone\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let library = "\n[lib]\ncrate-type = [\"cdylib\"]\n\n[package.metadata.lathe]\n";
    project.write("Cargo.toml", &[package, library].concat());
    project.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"alone\"\nversion = \"0.1.0\"\n");
    project.write("src/lib.rs", "");
    let said = project.test(&["--rust-toolchain", "/nowhere"]);
    said.refused(1, &["this machine cannot build Rust", "--rust-toolchain"]);
    assert!(!said.stderr.contains("server"), "a local test has no server: {said:?}");
}

#[test]
fn a_misspelt_key_is_answered_with_the_one_that_was_meant() {
    let project = echo();
    project.append("pyproject.toml", "alowed_hosts = []\n");
    project.test(&[]).refused(1, &["alowed_hosts is an unknown key", "did you mean `allowed_hosts`?"]);
    let project = echo();
    project.check("one", &json!({"expected_ouput": {}}));
    project.test(&[]).refused(1, &["unknown field `expected_ouput`", "did you mean `expected_output`?"]);
}
