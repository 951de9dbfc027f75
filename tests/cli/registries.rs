//! The package registries that builds use if no setting names one: those of the package managers on the machine.

use serde_json::{Value, json};

use crate::harness::{Lathe, Options, PackageIndex, Said, Server, Team, eventually, lock_line, package_wheel};

/// A server and a client whose environment configures pip.
fn environment(index: &PackageIndex) -> Vec<(String, String)> {
    let variables = [
        ("LATHE_DEFAULT_REGISTRIES", "host"),
        ("PIP_INDEX_URL", &index.url),
        ("npm_config_registry", "http://user:hidden@127.0.0.1:1/npm"),
        ("CARGO_SOURCE_CRATES_IO_REPLACE_WITH", "mine"),
        ("CARGO_SOURCE_MINE_REGISTRY", "sparse+http://127.0.0.1:1/crates/"),
    ];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[test]
fn builds_use_the_index_that_pip_is_configured_for() {
    let words = package_wheel("words", "1.0", &[("words.py", &format!("WORD = 'vale'  # {}\n", std::process::id()))]);
    let index = PackageIndex::serve(&[("words", "words-1.0-py3-none-any.whl", &words)]);
    let server = Server::private(&Options { environment: environment(&index), ..Options::default() });
    let team = Team::on(&server);
    let tool = team.next_tool().body("import words; return words.WORD");
    let tool = tool.with_file("requirements.lock", &lock_line("words", "1.0", &words)).published();
    assert_eq!(tool.invoke(json!({})).output(), "vale");
    let answers = eventually("the check of the registries", || {
        let about = server.log_about("does not answer");
        (about.lines().count() == 2).then_some(about)
    });
    assert!(answers.contains("http://127.0.0.1:1/npm") && !answers.contains("hidden"), "{answers}");
    assert!(server.log_about("the package registry answers").contains(&index.url));
}

#[test]
fn the_doctor_lists_the_registries() {
    let index = PackageIndex::serve(&[]);
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let registries = |variables: Vec<(String, String)>| {
        let mut command = lathe.command(&["--json", "doctor"]);
        let said = Said::from(command.envs(variables).output().expect("the program ends")).document();
        let checks = said["checks"].as_array().expect("a list").clone();
        ["Python index", "npm registry", "crate index"].map(|name| {
            let check = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}"));
            (check["state"].clone(), check["detail"].as_str().expect("text").to_owned())
        })
    };
    let [python, npm, crates] = registries(environment(&index));
    assert_eq!(python, (json!("ok"), format!("{} (PIP_INDEX_URL)", index.url)));
    let unreachable = |(state, detail): (Value, String), words: &str| {
        assert!(state == "optional" && detail.starts_with(words) && detail.contains("does not answer"), "{detail}");
    };
    unreachable(npm, "http://127.0.0.1:1/npm (npm_config_registry)");
    unreachable(crates, "http://127.0.0.1:1/crates (CARGO_SOURCE_MINE_REGISTRY)");
    for (state, detail) in registries(Vec::new()) {
        assert_eq!((state, detail.as_str()), (json!("optional"), "none: dependencies are refused"));
    }
}
