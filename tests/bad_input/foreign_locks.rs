//! Lock files of other tools, and what is left out of ours.

use serde_json::json;

use super::refused;
use crate::harness::{Bump, Options, PackageIndex, Server, Team, lock_line, package_wheel};

const NEEDY: &str = "[project]\nname = \"needy\"\ndependencies = [\"attrs\"]\n";

#[test]
fn lock_files_of_other_python_tools_are_named_with_the_command_that_makes_ours() {
    let team = Team::new();
    for (file, command) in [
        ("poetry.lock", "poetry export --format requirements.txt --output requirements.lock"),
        ("pdm.lock", "pdm export --production --format requirements --output requirements.lock"),
        ("Pipfile.lock", "pipenv requirements --hash --exclude-index > requirements.lock"),
        ("pylock.toml", "uv pip compile --generate-hashes pyproject.toml -o requirements.lock"),
        ("environment.yml", "uv pip compile --generate-hashes pyproject.toml -o requirements.lock"),
        ("requirements.txt", "uv pip compile --generate-hashes requirements.txt -o requirements.lock"),
    ] {
        let tool = team.next_tool().with_file("pyproject.toml", NEEDY).with_file(file, "x").pushed();
        refused(&team, &tool, &["dependencies failed (lock-file): requirements.lock: ", file, command]);
    }
}

#[test]
fn an_import_that_another_lock_file_has_names_the_command() {
    let team = Team::new();
    let tool = team.next_tool().source("import attrs", "return 1").with_file("poetry.lock", "x").pushed();
    refused(&team, &tool, &["attrs", "poetry.lock of Poetry is not read", "poetry export"]);
}

#[test]
fn directories_of_a_workspace_and_options_are_explained() {
    let team = Team::new();
    for (line, word) in [
        ("-e ../shared", "it is a directory, and a build has only the files of this project"),
        ("shared @ file:///srv/shared", "--no-emit-workspace"),
        (
            "-i https://index.example/simple",
            "it is an option of pip, and a build goes by the server's package index alone",
        ),
    ] {
        let tool = team.next_tool().with_file("pyproject.toml", NEEDY).with_file("requirements.lock", line).pushed();
        refused(&team, &tool, &["requirements.lock:1: ", word]);
    }
}

#[test]
fn the_log_names_packages_that_are_left_out_and_why() {
    let pure = package_wheel("pure-words", "1.0", &[("pure_words.py", "WORD = 'ave'\n")]);
    let index = PackageIndex::serve(&[("pure-words", "pure_words-1.0-py3-none-any.whl", &*pure)]);
    let team = Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }));
    let lock = format!(
        "{}\ncolorama==0.4.6 ; sys_platform == 'win32' --hash=sha256:{}\n",
        lock_line("pure-words", "1.0", &pure).trim(),
        "0".repeat(64)
    );
    let manifest = "[project]\nname = \"worded\"\ndependencies = [\"pure-words\"]\n";
    let tool = team.tool("worded").with_file("pyproject.toml", manifest).with_file("requirements.lock", &lock);
    let tool = tool.source("import pure_words", "return pure_words.WORD").pushed();
    tool.publish(Bump::Major).expect(201);
    assert_eq!(tool.invoke(json!({})).output(), "ave");
    let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let log = detail["build_log"].as_str().expect("a log");
    let line = "requirements.lock:2: colorama is left out, since its marker is false for tools (Python 3.14, WASI): ";
    assert!(log.contains(line) && log.contains("win32"), "{log}");
}
