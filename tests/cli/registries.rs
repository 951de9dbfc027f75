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

/// The state and the detail of the registries that `lathe doctor` finds in a home directory with these files.
fn of_home(files: &[(&str, String)]) -> [String; 3] {
    let home = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let file = home.path().join(path);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        std::fs::write(file, text).expect("a file");
    }
    let mut command = Lathe { home: home.path(), directory: home.path() }.command(&["--json", "doctor"]);
    let is_setting = |name: &str| {
        ["PIP_", "UV_", "NPM_", "CARGO_", "XDG_"].iter().any(|prefix| name.to_ascii_uppercase().starts_with(prefix))
    };
    for (name, _) in std::env::vars().filter(|(name, _)| is_setting(name)) {
        command.env_remove(name);
    }
    command.env("LATHE_DEFAULT_REGISTRIES", "host");
    let said = Said::from(command.output().expect("the program ends")).document();
    let checks = said["checks"].as_array().expect("a list").clone();
    ["Python index", "npm registry", "crate index"].map(|name| {
        let check = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}"));
        let shown =
            format!("{} {}", check["state"].as_str().expect("a state"), check["detail"].as_str().expect("text"));
        shown.replace(home.path().to_str().expect("UTF-8"), "~")
    })
}

fn names_index(file: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.contains("index-url"))
}

#[test]
fn the_files_of_package_managers_name_the_registries() {
    let index = PackageIndex::serve(&[]);
    let npmrc = "//127.0.0.1:1/:_authToken=hidden\nregistry = http://127.0.0.1:1/npm\n".to_owned();
    let cargo = "[source.crates-io]\nreplace-with = \"mine\"\n[source.mine]\nregistry = \"sparse+http://127.0.0.1:1/crates/\"\n";
    let others = [(".npmrc", npmrc), (".cargo/config.toml", cargo.to_owned())];
    let uv = format!("[[index]]\nurl = \"{}\"\ndefault = true\n", index.url);
    let pip = format!("[global]\nindex-url = {}\n", index.url);
    for (path, text) in [(".config/uv/uv.toml", uv), (".config/pip/pip.conf", pip)] {
        // The machine's own pip.conf comes before the user's uv.toml.
        if path.contains("uv") && ["/etc/xdg/pip/pip.conf", "/etc/pip.conf"].iter().any(|file| names_index(file)) {
            continue;
        }
        let [python, npm, crates] = of_home(&[&[(path, text)], &others[..]].concat());
        assert_eq!(python, format!("ok {} (~/{path})", index.url));
        assert!(npm.starts_with("optional http://127.0.0.1:1/npm (~/.npmrc)") && !npm.contains("hidden"), "{npm}");
        assert!(crates.starts_with("optional http://127.0.0.1:1/crates (~/.cargo/config.toml)"), "{crates}");
    }
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
