//! Mistakes on the command line: the error names what the user gave, and its hint is a next step that works.

use serde_json::json;

use crate::harness::{Said, Team, Tool, input};

/// The hint of a refused command.
fn hint(said: &Said) -> &str {
    let (_, hint) = said.stderr.split_once("hint: ").unwrap_or_else(|| panic!("no hint: {said:?}"));
    hint.lines().next().unwrap_or_default()
}

/// A team with a tool of two versions, 1.0.0 and 2.0.0.
fn two_versions<'t>(team: &'t Team, name: &str) -> Tool<'t> {
    let tool = team.tool(name).published();
    team.lathe().ok(&["tool", "publish", name, "--bump", "major"]);
    tool
}

#[test]
fn a_deprecated_version_names_the_newest_live_one() {
    let team = Team::new();
    let (lathe, tool) = (team.lathe(), two_versions(&team, "greet"));
    lathe.ok(&["tool", "deprecate", "greet@1.0.0", "--yes"]);
    let said = lathe.run(&["tool", "invoke", "greet@1.0.0"]);
    said.refused(1, &["greet 1.0.0 was deprecated on ", " by ada; live: 2.0.0"]);
    assert_eq!(hint(&said), "`lathe tool invoke greet@2.0.0` runs the newest live version");
    let error = &lathe.run(&["--json", "tool", "invoke", "greet@1.0.0"]).document()["error"];
    assert_eq!((&error["code"], &error["status"]), (&json!("version_deprecated"), &json!(404)));
    assert_eq!(error["hint"], "`lathe tool invoke greet@2.0.0` runs the newest live version");
    // The same over HTTP, by the tool's id and by its name.
    let body = json!({"inputs": [input(&json!({"word": "ave"}))]});
    for path in [format!("/tool/{}/version", tool.id()), "/tool/by-name/greet/version".to_owned()] {
        let refused = team.post(&format!("{path}/1.0.0/invoke"), &body);
        let detail = refused.expect(404)["detail"].as_str().expect("a text").to_owned();
        assert!(detail.starts_with("greet 1.0.0 was deprecated on ") && detail.ends_with("live: 2.0.0"), "{detail}");
        assert_eq!(refused.code(), "version_deprecated");
        let ran = team.post(&format!("{path}/2.0.0/invoke"), &body).expect(200);
        assert_eq!(ran["invocation_results"][0]["output"], r#"{"word":"ave"}"#, "{ran}");
    }
    lathe.ok(&["tool", "deprecate", "greet@2", "--yes"]);
    let none = lathe.run(&["tool", "invoke", "greet@1.0.0"]);
    none.refused(1, &["no version is live"]);
    assert_eq!(hint(&none), "`lathe tool versions greet` lists its versions");
}

#[test]
fn a_deprecated_tool_is_told_from_an_unknown_one() {
    let team = Team::new();
    let (lathe, tool) = (team.lathe(), team.tool("greet").published());
    lathe.ok(&["tool", "invoke", "greet"]);
    lathe.ok(&["tool", "deprecate", "greet", "--yes"]);
    for command in [
        &["tool", "versions", "greet"][..],
        &["tool", "invoke", "greet"],
        &["tool", "publish", "greet", "--bump", "minor"],
        &["envvar", "list", "greet"],
    ] {
        let said = lathe.run(command);
        said.refused(1, &["the tool `greet` was deprecated on ", " by ada"]);
        assert!(hint(&said).contains("lathe tool list --all") && hint(&said).contains(tool.id()), "{said:?}");
        assert!(!said.stderr.contains("tool create"), "{said:?}");
    }
    let runs = lathe.json(&["history", "list", "--tool", "greet"]);
    assert_eq!(runs["tool_invocations"].as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!(lathe.json(&["history", "search", "x", "--tool", "greet"])["tool_invocations"], json!([]));
    lathe.run(&["history", "list", "--tool", "nothing"]).refused(1, &["there is no tool `nothing`"]);
    // Another tool may have the name.
    lathe.ok(&["tool", "create", "greet", "--description", "Greets again."]);
    assert_eq!(lathe.json(&["history", "list", "--tool", "greet"])["tool_invocations"], json!([]));
}

#[test]
fn a_record_that_does_not_exist_is_named() {
    let team = Team::new();
    let (lathe, id) = (team.lathe(), "0".repeat(24));
    for command in ["show", "cancel"] {
        let said = lathe.run(&["history", command, &id]);
        said.refused(1, &[&format!("error: there is no record {id}\n")]);
        assert_eq!(hint(&said), "`lathe history list` lists the newest records");
    }
}

#[test]
fn a_repeated_publish_has_a_way_out() {
    let team = Team::new();
    let (lathe, tool) = (team.lathe(), team.tool("greet").published());
    let branch = team.branch();
    let publish = |bump: &str| lathe.run(&["tool", "publish", "greet", "--bump", bump, "--branch", &branch]);
    publish("major").ok();
    let said = publish("major");
    said.refused(1, &["has not moved since 2.0.0", "push a commit, or choose another bump"]);
    assert_eq!(hint(&said), "push a commit, or choose another --bump");
    assert!(!said.stderr.contains("idempotency"), "{said:?}");
    publish("patch").ok();
    assert_eq!(tool.versions(), ["1.0.0", "2.0.0", "2.0.1"]);
}

#[test]
fn a_refused_value_is_named_by_its_argument() {
    let team = Team::new();
    let lathe = team.lathe();
    drop(team.tool("greet").published());
    for (command, words) in [
        (&["envvar", "set", "greet", "lower=x"][..], &["error: NAME: variable name", "API_KEY"][..]),
        (&["envvar", "unset", "greet", "lower"], &["error: NAME: variable name", "API_KEY"]),
        (&["history", "show", "nowhere"], &["error: INVOCATION: ", "lathe history list"]),
        (&["history", "cancel", "nowhere"], &["error: INVOCATION: ", "lathe history list"]),
        (&["replay", "nowhere"], &["error: INVOCATION: ", "lathe history list"]),
        (&["tool", "log", "greet", "nowhere"], &["error: BUILD_ID: ", "a refused publish"]),
        (&["tool", "create", "Bad-Name", "--description", "x"], &["error: NAME: tool name must", "another name"]),
        (&["history", "list", "--origin", "nowhere"], &["error: --origin: "]),
    ] {
        let said = lathe.run(command);
        said.refused(1, words);
        for wire in ["body.", "path.", "query."] {
            assert!(!said.stderr.contains(wire), "{wire} in {said:?}");
        }
    }
    for command in [&["tool", "invoke", "greet@latest"][..], &["tool", "versions", "greet@latest"]] {
        let said = lathe.run(command);
        assert!(matches!(said.code, Some(1 | 2)) && said.stderr.contains("^1.2"), "{said:?}");
        assert!(!said.stderr.contains("path.") && !said.stderr.contains("query."), "{said:?}");
    }
}

#[test]
fn a_version_may_follow_the_tool() {
    let team = Team::new();
    let lathe = team.lathe();
    drop(two_versions(&team, "greet"));
    assert_eq!(lathe.json(&["tool", "show", "greet@1"]), lathe.json(&["tool", "show", "greet", "1.0.0"]));
    for document in ["provenance", "sbom"] {
        let [joined, apart] = [&["greet@2.0.0"][..], &["greet", "2.0.0"]];
        let text = |version: &[&str]| lathe.ok(&[&["tool", document], version].concat());
        assert_eq!(text(joined), text(apart));
    }
    assert!(lathe.ok(&["tool", "verify", "greet@1"]).starts_with("identical"));
    let listed = lathe.json(&["tool", "versions", "greet@1"]);
    assert_eq!(listed["tool_versions"].as_array().map(Vec::len), Some(1));
    lathe.run(&["tool", "show", "greet@1", "1"]).refused(2, &["two versions of greet"]);
    lathe.run(&["tool", "verify", "greet"]).refused(2, &["the version is missing", "greet@VERSION"]);
    // Commands about a whole tool suggest no name that a tool cannot have.
    for command in [&["tool", "publish", "greet@1", "--bump", "minor"][..], &["envvar", "list", "greet@1"]] {
        let said = lathe.run(command);
        said.refused(1, &["there is no tool `greet@1`"]);
        assert_eq!(hint(&said), "name the tool without a version: `greet`");
    }
    assert_eq!(hint(&lathe.run(&["tool", "show", "Bad-Name"])), "`lathe tool list` lists the tools");
}

#[test]
fn values_of_variables_are_not_lost() {
    let team = Team::new();
    let lathe = team.lathe();
    team.tool("greet").id();
    lathe.run(&["envvar", "set", "greet", "C=-"]).refused(2, &["the value of C is empty", "C="]);
    lathe.run_with(&["envvar", "set", "greet", "A=-", "B=-"], "one").refused(2, &["the value of B is empty"]);
    assert_eq!(lathe.json(&["envvar", "list", "greet"])["variables"], json!([]));
    lathe.ok(&["envvar", "set", "greet", "A=1", "A1=", "B=2"]);
    let unset = lathe.json(&["envvar", "unset", "greet", "A", "A1", "A"]);
    assert_eq!(unset["deleted"], 2);
    let left = lathe.json(&["envvar", "list", "greet"])["variables"].clone();
    assert_eq!((left.as_array().map(Vec::len), &left[0]["name"]), (Some(1), &json!("B")));
}

#[test]
fn a_list_does_not_deny_tools_that_exist() {
    let team = Team::new();
    let lathe = team.lathe();
    team.tool("greet").id();
    let tagged = lathe.run(&["tool", "list", "--tag", "team:ops"]).ok();
    assert_eq!(tagged.stderr, "no tools with these tags; `lathe tool list` lists all\n");
    lathe.run(&["tool", "list", "--limit", "0"]).refused(2, &["--limit"]);
    assert!(lathe.ok(&["tool", "list", "--limit", "1"]).contains("greet"));
    lathe.ok(&["tool", "edit", "greet", "--tag", "beta"]);
    lathe.ok(&["tool", "edit", "greet", "--untag", "beta", "--untag", "beta"]);
    assert_eq!(lathe.json(&["tool", "show", "greet"])["tags"], json!([]));
}
