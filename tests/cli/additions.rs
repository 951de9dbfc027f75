//! Options and commands beside the main ones: files with variables, APIs of tools, the tail of the history, rollbacks, the cache.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::apis::orders;
use crate::harness::{Bump, Lathe, Said, Team, Terminal, Tool};

#[test]
fn variables_are_set_from_a_file() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool = team.tool("asking").manifest("required_envvars = ['REGION', 'PRICE']");
    let tool = tool.body("return config.envvars['REGION'] + config.envvars['PRICE']").pushed();
    tool.id();
    let file = team.home().join("variables.env");
    let text = "# of the shop\nexport REGION=north\n\nPRICE=\"5 $\"\nOTHER='x'\n";
    std::fs::write(&file, text).expect("a file");
    let file = file.to_str().expect("UTF-8");
    let set = lathe.json(&["envvar", "set", "asking", "--env-file", file, "REGION=south"]);
    assert_eq!(set["inserted"], 3);
    lathe.ok(&["tool", "publish", "asking", "--bump", "minor"]);
    assert_eq!(
        lathe.ok(&["tool", "invoke", "asking"]).trim(),
        "south5 $",
        "the command line wins, and nothing is expanded"
    );
    lathe.ok(&["tool", "test", "tools/asking", "--env-file", file, "--input", "{}"]);
    for (text, problem) in
        [("NAME", ":1: there is no value"), ("A=1\nA=2", ":2: A is given twice"), ("A='x", ":1: the quotes")]
    {
        std::fs::write(file, text).expect("a file");
        lathe.run(&["envvar", "set", "asking", "--env-file", file]).refused(2, &[problem, "hint:"]);
    }
    lathe.run(&["envvar", "set", "asking"]).refused(2, &["NAME"]);
}

#[test]
fn an_api_of_a_tool_is_named() {
    let team = Team::new();
    let lathe = team.lathe();
    drop(orders(&team).published());
    let said = lathe.ok(&["tool", "invoke", "orders", "--api", "list", "--input", r#"{"of": "ann"}"#]);
    assert_eq!(said.trim(), r#"{"listed":{"of":"ann"}}"#);
    let record = &lathe.json(&["history", "list"])["tool_invocations"][0];
    assert_eq!(record["inputs"], json!({"api": "list", "arguments": {"of": "ann"}}));
    let missing = lathe.run(&["tool", "invoke", "orders", "--input", r#"{"of": "ann"}"#]);
    missing.refused(1, &["api"]);
}

#[test]
fn the_history_is_followed() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool = team.tool("words").body("return tool_input['word']").published();
    for word in ["alpha", "beta"] {
        tool.invoke(json!({ "word": word }));
    }
    let earlier = lathe.ok(&["history", "tail", "--lines", "1", "--no-follow"]);
    assert!(earlier.lines().count() == 1 && earlier.contains("beta") && earlier.contains("words"), "{earlier}");
    let documents = lathe.ok(&["--json", "history", "tail", "--no-follow"]);
    let words: Vec<Value> =
        documents.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["inputs"].clone()).collect();
    assert_eq!(words, [json!({"word": "alpha"}), json!({"word": "beta"})], "the oldest first");
    let mut following = Terminal::start(lathe.command(&["history", "tail", "-n", "1", "--tool", "words"]));
    following.shows("beta");
    tool.invoke(json!({"word": "gamma"}));
    following.shows("gamma");
    let text = following.text();
    assert!(!text.contains("alpha") && text.matches("beta").count() == 1, "{text}");
    following.signal(nix::sys::signal::Signal::SIGINT);
    following.ended();
}

#[test]
fn records_leave_a_conversation() {
    let team = Team::new();
    let lathe = team.lathe();
    let unknown = "c".repeat(24);
    let none = lathe.ok(&["history", "rollback", "--conversation", &unknown]);
    assert!(none.contains("no records left it"), "{none}");
    assert_eq!(lathe.json(&["history", "rollback", "--simulation", &unknown]), json!({"rolled_back": 0}));
    lathe.run(&["history", "rollback"]).refused(2, &["--conversation", "--simulation"]);
    lathe
        .run(&["history", "rollback", "--simulation", &unknown, "--interaction", &unknown])
        .refused(2, &["--simulation", "--interaction"]);
}

#[test]
fn an_operation_is_awaited() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool = team.tool("made").pushed();
    let publish = |tool: &Tool<'_>| {
        let request = tool.publish_request(Bump::Minor).header("prefer", "respond-async");
        request.send().expect(202)["id"].as_str().expect("an id").to_owned()
    };
    let id = publish(&tool);
    let said = lathe.ok(&["operation", "wait", &id]);
    assert!(said.contains("succeeded") && said.contains("HTTP 201") && said.contains("1.0.0"), "{said}");
    assert_eq!(lathe.json(&["operation", "show", &id])["kind"], "publish");
    let id = publish(&tool.body("return )").pushed());
    let failed = lathe.run(&["operation", "wait", &id]);
    assert!(failed.code == Some(1) && failed.stdout.contains("build_failed"), "{failed:?}");
    lathe.run(&["operation", "show", &"f".repeat(24)]).refused(1, &["there is no operation", "a day"]);
}

#[test]
fn the_cache_of_a_user_is_cleared() {
    let directory = tempfile::tempdir().expect("a directory");
    let lathe = Lathe { home: directory.path(), directory: directory.path() };
    let cache = directory.path().join(".cache/lathe");
    let empty = lathe.json(&["cache", "clear"]);
    assert_eq!(empty["deleted_bytes"], 0);
    std::fs::create_dir_all(cache.join("cache/deep")).expect("a directory");
    std::fs::write(cache.join("cache/deep/file"), [0; 100]).expect("a file");
    assert_eq!(lathe.json(&["cache", "show"]), json!({"directory": cache, "bytes": 100}));
    assert!(lathe.ok(&["cache", "clear"]).contains("deleted"));
    assert!(std::fs::read_dir(&cache).expect("a directory").next().is_none());
}

/// A program `uv` that says a version, and writes down its arguments.
fn with_uv(team: &Team, version: &str) -> (std::path::PathBuf, String) {
    let bin = team.home().join("bin");
    std::fs::create_dir_all(&bin).expect("a directory");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'uv {version}'; else echo \"$PWD $*\" >> {}/log; fi\n",
        bin.display()
    );
    std::fs::write(bin.join("uv"), script).expect("a program");
    std::fs::set_permissions(bin.join("uv"), std::fs::Permissions::from_mode(0o755)).expect("its mode");
    (bin.join("log"), format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path")))
}

#[test]
fn the_scaffold_is_installed_with_uv() {
    let team = Team::new();
    let lathe = team.lathe();
    for name in ["one", "two"] {
        lathe.ok(&["tool", "new", name]);
    }
    let install = |path: &str, arguments: &[&str]| {
        let mut command = lathe.command(&[&["tool-scaffold", "install"], arguments].concat());
        Said::from(command.env("PATH", path).output().expect("the program starts"))
    };
    let nothing = team.home().join("nothing");
    install(nothing.to_str().expect("UTF-8"), &["--all"]).refused(1, &["uv is not in PATH", "0.10.2"]);
    let (_, path) = with_uv(&team, "0.10.1 (x86_64-unknown-linux-gnu)");
    install(&path, &["--all"]).refused(1, &["is uv 0.10.1; 0.10.2 or later is needed", "uv self update"]);
    let (log, path) = with_uv(&team, "0.10.2 (x86_64-unknown-linux-gnu)");
    install(&path, &[]).refused(2, &["one, two", "--tool", "--all"]);
    install(&path, &["--tool", "three"]).refused(1, &["there is no Python project tools/three", "one, two"]);
    install(&path, &["-e", "default", "-t", "one", "-v"]).ok();
    let said = std::fs::read_to_string(&log).expect("uv was started");
    assert!(said.contains("tools/one venv .venv") && said.contains("amigo_tool_scaffold @ file://"), "{said}");
    assert!(said.contains("--verbose") && !said.contains("tools/two"), "{said}");
    let all = install(&path, &["--all", "--json"]).ok().document();
    assert_eq!(all["installed"].as_array().map(Vec::len), Some(2));
    install(&path, &["--env", "nobody", "--all"]).refused(1, &["not logged in in the profile nobody"]);
}
