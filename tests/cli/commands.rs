//! The commands of a tool's author, in the order of use.

use serde_json::{Value, json};

use crate::harness::{Lathe, Repository, Team};

#[test]
fn a_tool_from_its_template_to_its_deprecation() {
    let team = Team::new();
    let lathe = team.lathe();
    assert!(lathe.ok(&["tool", "new", "greet"]).contains("tools/greet"));
    lathe.run(&["tool", "new", "greet"]).refused(1, &["not empty"]);
    let created =
        lathe.json(&["tool", "create", "greet", "--description", "Greets.", "--tag", "team=sales", "--tag", "beta"]);
    lathe.run(&["tool", "create", "greet", "--description", "Again."]).refused(1, &["already exists"]);
    let push = format!("HEAD:{}", team.branch());
    team.repository.commit();
    team.repository.ok(&["push", "-q", &team.git_url(), &push]);
    let branch = team.branch();
    let test = ["tool", "test", "tools/greet", "--branch", &branch, "--input", r#"{"name": "Ada"}"#];
    assert!(lathe.ok(&test).contains("Hello, Ada!"));
    assert_eq!(lathe.json(&["tool", "publish", "greet", "--bump", "minor"]), json!({"new_version": "1.0.0"}));
    assert!(lathe.ok(&["tool", "publish", "greet", "--bump", "major"]).contains("published greet 2.0.0"));
    invoking(&lathe);
    listing(&lathe, &created);
    deprecating(&lathe);
}

fn invoking(lathe: &Lathe<'_>) {
    let expected = r#"{"greetings":["Hello, Ada!"],"delivered":true}"#;
    let input = ["--input", r#"{"name": "Ada"}"#];
    assert_eq!(lathe.ok(&[&["tool", "invoke", "greet"][..], &input].concat()).trim(), expected);
    assert_eq!(
        lathe.run_with(&["tool", "invoke", "greet@<2", "-i", "-"], r#"{"name": "Ada"}"#).ok().stdout.trim(),
        expected
    );
    let simulated = lathe.ok(&[&["tool", "invoke", "greet", "--mode", "conversation-simulation"][..], &input].concat());
    assert!(simulated.contains(r#""delivered":false"#), "{simulated}");
    let two = lathe.json(&[&["tool", "invoke", "greet"][..], &input, &input].concat());
    assert_eq!(two["invocation_results"].as_array().map(Vec::len), Some(2));
    let failed = lathe.run(&["tool", "invoke", "greet", "--input", r#"{"name": "Ada", "times": 0}"#]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.stdout.contains("ValueError") && failed.stdout.contains("tool.py"), "{failed:?}");
    let misfit = lathe.run(&["tool", "invoke", "greet", "--input", "{}"]);
    misfit.refused(1, &["name"]);
    lathe
        .run(&["tool", "invoke", "greet@9", "--input", r#"{"name": "Ada"}"#])
        .refused(1, &["greet that matches ==9.*", "hint:"]);
    lathe.run(&["tool", "invoke", "nothing"]).refused(1, &["nothing"]);
}

fn listing(lathe: &Lathe<'_>, created: &Value) {
    let tools = lathe.json(&["tool", "list"]);
    assert_eq!(tools["tools"][0]["id"], created["id"]);
    assert_eq!(tools["tools"][0]["tags"], json!([{"key": "beta", "value": null}, {"key": "team", "value": "sales"}]));
    assert!(lathe.ok(&["tool", "list"]).contains("team=sales"));
    updating(lathe);
    assert_eq!(lathe.json(&["tool", "list", "--tag", "team:other"])["tools"], json!([]));
    let versions = lathe.json(&["tool", "versions", "greet"]);
    assert_eq!(versions["tool_versions"].as_array().map(Vec::len), Some(2));
    let shown = lathe.json(&["tool", "show", "greet", "2.0.0"]);
    assert!(shown["build_log"].as_str().is_some_and(|log| log.contains("compile: done")), "{shown}");
    assert!(lathe.ok(&["tool", "show", "greet", "2.0.0"]).contains("component_digest"));
    lathe
        .run(&["tool", "show", "greet", "3.0.0"])
        .refused(1, &["no version 3.0.0 of greet", "lathe tool versions greet"]);
}

fn updating(lathe: &Lathe<'_>) {
    lathe.ok(&["tool", "edit", "greet", "--description", "Greets people.", "--tag", "team=ops", "--untag", "beta"]);
    let shown = lathe.json(&["tool", "show", "greet"]);
    assert_eq!(
        (&shown["description"], &shown["live_versions"]),
        (&json!("Greets people."), &json!(["2.0.0", "1.0.0"]))
    );
    assert_eq!(shown["tags"], json!([{"key": "team", "value": "ops"}]));
    lathe.ok(&["tool", "edit", "greet", "--tag", "team=sales", "--tag", "beta"]);
    let text = lathe.ok(&["tool", "show", "greet"]);
    assert!(text.contains("Greets people.") && text.contains("beta, team=sales"), "{text}");
    lathe.run(&["tool", "edit", "greet"]).refused(2, &["--description", "--tag"]);
    lathe.run(&["tool", "edit", "greet", "--untag", "x"]).refused(1, &["greet has no tag `x`"]);
}

fn deprecating(lathe: &Lathe<'_>) {
    // There is no terminal to ask on.
    lathe.run(&["tool", "deprecate", "greet"]).refused(2, &["confirmation", "--yes"]);
    lathe.ok(&["tool", "deprecate", "greet", "--versions", "<2", "--yes"]);
    let live = lathe.json(&["tool", "versions", "greet", "--live"]);
    assert_eq!(live["tool_versions"].as_array().map(Vec::len), Some(1));
    lathe.run(&["tool", "deprecate", "greet", "--versions", "==7", "--yes"]).refused(1, &["greet matches ==7"]);
    let gone = lathe.json(&["tool", "deprecate", "greet", "--yes"]);
    assert_eq!(gone["versions"], Value::Null);
    assert_eq!(lathe.json(&["tool", "list"])["tools"], json!([]));
    assert_eq!(lathe.json(&["tool", "list", "--all"])["tools"][0]["deprecated"], true);
}

#[test]
fn the_log_of_a_build() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool = team.tool("broken").body("return )").pushed();
    tool.id();
    let publish = ["tool", "publish", "broken", "--bump", "minor"];
    let refused = lathe.run(&publish);
    let (_, hint) = refused.stderr.split_once("`lathe tool log broken ").unwrap_or_else(|| panic!("{refused:?}"));
    let build = hint.split('`').next().expect("an id").to_owned();
    refused.refused(1, &["tool.py:4"]);
    let log = lathe.ok(&["tool", "log", "broken", &build]);
    assert!(log.contains("failed in compile") && log.contains("checkout: done") && log.contains("tool.py:4"), "{log}");
    assert_eq!(lathe.json(&["tool", "log", "broken", &build])["id"], *build);
    lathe.run(&["tool", "log", "broken", &"0".repeat(24)]).refused(1, &["build 0000"]);
    lathe.run(&["tool", "log", "broken"]).refused(2, &["BUILD_ID", "--version"]);
    drop(tool.renewed().pushed());
    lathe.ok(&publish);
    assert!(lathe.ok(&["tool", "log", "broken", "--version", "1.0.0"]).contains("compile: done"));
}

#[test]
fn variables() {
    let team = Team::new();
    let lathe = team.lathe();
    let tool =
        team.tool("asking").manifest("required_envvars = ['REGION']").manifest("required_secret_envvars = ['TOKEN']");
    let tool = tool.body("return config.envvars['REGION'] + ' ' + config.secrets['TOKEN']").pushed();
    tool.id();
    let publish = ["tool", "publish", "asking", "--bump", "minor"];
    lathe.run(&publish).refused(1, &["REGION", "TOKEN", "lathe envvar set"]);
    let set = lathe.json(&["envvar", "set", "asking", "REGION=north", "EXTRA=x"]);
    assert_eq!((&set["inserted"], &set["updated"]), (&json!(2), &json!(0)));
    lathe.run_with(&["envvar", "set", "asking", "--secret", "TOKEN=-"], "s3cr3t\n").ok();
    lathe.ok(&publish);
    assert_eq!(lathe.ok(&["tool", "invoke", "asking"]).trim(), "north s3cr3t");
    let warned = lathe.run(&["envvar", "set", "asking", "BROKEN=s3cr3t\n"]).ok().stderr;
    assert!(warned.contains("warning: the value of BROKEN ends with a line end, which no header may have"), "{warned}");
    lathe.ok(&["envvar", "unset", "asking", "BROKEN"]);
    let changed = lathe.json(&["envvar", "set", "asking", "REGION=south"]);
    assert_eq!(changed["updated"], 1);
    assert_eq!(lathe.ok(&["tool", "invoke", "asking"]).trim(), "south s3cr3t");
    let in_use = lathe.run(&["envvar", "unset", "asking", "EXTRA", "REGION"]);
    in_use.refused(1, &["REGION", "1.0.0", "hint:"]);
    assert!(lathe.ok(&["tool", "list"]).contains("EXTRA"), "all or nothing");
    lathe.ok(&["envvar", "unset", "asking", "EXTRA"]);
    lathe.run(&["envvar", "unset", "asking", "EXTRA"]).refused(1, &["EXTRA"]);
    lathe.run(&["envvar", "set", "asking", "lower=x"]).refused(1, &["A-Z"]);
    lathe.run(&["envvar", "set", "asking", "2ND=x"]).refused(1, &["the first no digit"]);
    lathe.ok(&["envvar", "set", "asking", "S3_REGION_2=x"]);
    lathe.ok(&["envvar", "unset", "asking", "S3_REGION_2"]);
    let listed = lathe.ok(&["tool", "list"]);
    assert!(listed.contains("TOKEN (secret)") && !listed.contains("s3cr3t"), "{listed}");
}

#[test]
fn history() {
    let team = Team::new();
    let lathe = team.lathe();
    let body = "
        if tool_input['word'] == 'wrong':
            raise LookupError('wrong word')
        return 'the word is ' + tool_input['word']
    ";
    team.tool("words").body(body).published();
    let run = |word: &str| lathe.run(&["tool", "invoke", "words", "--input", &json!({"word": word}).to_string()]);
    for word in ["alpha", "beta", "wrong"] {
        run(word);
    }
    let list = lathe.json(&["history", "list"]);
    assert_eq!(list["tool_invocations"].as_array().map(Vec::len), Some(3));
    let failed = lathe.json(&["history", "list", "--failed", "--tool", "words", "--version", "<2"]);
    assert_eq!(failed["tool_invocations"][0]["inputs"], json!({"word": "wrong"}));
    let found = lathe.json(&["history", "search", "beta", "--in", "output"]);
    let id = found["tool_invocations"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(lathe.json(&["history", "show", &id])["id"], *id);
    let shown = lathe.ok(&["history", "show", &id]);
    assert!(shown.contains("the word is beta"));
    assert!(shown.contains(&format!(", key {}, from 127.0.0.1", team.api_key_id)), "{shown}");
    let table = lathe.ok(&["history", "list"]);
    assert!(table.contains("words") && table.contains("LookupError: wrong word"), "{table}");
    assert!(lathe.ok(&["history", "search", "wrong word"]).contains("LookupError"));
    assert_eq!(lathe.json(&["history", "search", "\" OR *"])["tool_invocations"], json!([]));
    lathe.run(&["history", "show", &"0".repeat(24)]).refused(1, &["record 0000"]);
    lathe.run(&["history", "list", "--version", "<2"]).refused(2, &["--tool"]);
}

/// The commands that `tool new` prints are run as they are printed.
#[test]
fn the_printed_commands_publish_a_new_project() {
    let team = Team::new();
    let lathe = team.lathe();
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &[]);
    clone.ok(&["switch", "-q", "-c", &team.branch()]);
    let lathe = Lathe { directory: &clone.directory, ..lathe };
    let said = lathe.ok(&["tool", "new", "greet"]);
    let commands: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("  ")).skip(1).collect();
    assert_eq!(commands[0], "git add tools/greet && git commit -m 'greet: first version'");
    assert_eq!(commands[1], format!("git push -u origin {}", team.branch()));
    clone.ok(&["add", "tools/greet"]);
    clone.ok(&["commit", "-q", "-m", "greet: first version"]);
    clone.ok(&commands[1].split(' ').skip(1).collect::<Vec<_>>());
    lathe.ok(&["tool", "create", "greet", "--description", "what it does"]);
    assert_eq!(
        commands[2..],
        ["lathe tool create greet --description 'what it does'", "lathe tool publish greet --bump minor"]
    );
    let published = lathe.run(&["tool", "publish", "greet", "--bump", "minor"]).ok();
    assert!(published.stderr.contains("(greet: first version)"), "{published:?}");
    // Elsewhere, the commands add what is missing.
    let elsewhere = tempfile::tempdir().expect("a directory");
    let said = Lathe { directory: elsewhere.path(), ..lathe }.ok(&["tool", "new", "other", "--path", "other"]);
    for words in [
        "git init",
        &format!("git remote add lathe {}", team.git_url_with("")),
        "git push lathe HEAD:releases/",
        "--path other",
    ] {
        assert!(said.contains(words), "{words} is missing in {said}");
    }
}
