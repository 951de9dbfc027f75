//! Warnings of a publication: declarations that build, but most likely do not do what their author means.

use serde_json::json;

use crate::harness::{Bump, Options, Server, Team, Tool};

const TYPO: &str = r#"{"type": "object", "properties": {"name": {"type": "string"}, "kind": {"enum": ["pay", "refund"]}}, "required": ["nmae"]}"#;

fn warnings(tool: &Tool<'_>, bump: Bump) -> Vec<String> {
    let published = tool.publish(bump).expect(201);
    let warnings = published["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    warnings.iter().map(|warning| warning.as_str().expect("a text").to_owned()).collect()
}

fn log(team: &Team, tool: &Tool<'_>, version: &str) -> String {
    let detail = team.get(&format!("/tool/{}/version/{version}", tool.id()));
    detail["build_log"].as_str().expect("a log").to_owned()
}

#[test]
fn a_declaration_that_does_nothing_has_a_warning() {
    let settings = |directory: &std::path::Path| {
        let file = directory.join("lathe.toml");
        std::fs::write(&file, "[run_limits]\ntimeout_seconds = 20\n").expect("settings");
        file.to_str().expect("UTF-8").to_owned()
    };
    let directory = tempfile::TempDir::new().expect("a directory");
    let arguments = vec!["--config".to_owned(), settings(directory.path())];
    let team = Team::on(&Server::private(&Options { arguments, ..Options::default() }));
    let tool = team.tool("typo").manifest("input_schema = 'in.json'").with_file("in.json", TYPO);
    let tool =
        tool.manifest("timeout_seconds = 25\nrequired_secret_envvars = ['KEY']\nallowed_hosts = ['a.example.com']");
    let tool = tool.manifest("secret_hosts = { KEY = ['b.example.com'] }\ncalls = { wether = '' }");
    let rule = |when: &str| format!("{{ when = {{ {when} }}, intervention = 'required' }}");
    let rules = [rule("amuont = { minimum = 1 }"), rule("kind = { const = 'refnud' }")].join(", ");
    let tool = tool.manifest(&format!("intervention_rules = [{rules}]")).pushed();
    tool.set_variables(&[("KEY", "hush-hush", true)]);
    let found = warnings(&tool, Bump::Minor);
    for words in [
        "the input schema requires \"nmae\", which `properties` does not list: \"kind\", \"name\"",
        "intervention_rules[0].when.amuont: the input schema does not list the argument; it lists: ",
        "intervention_rules[1].when.kind: the rule never matches",
        "secret_hosts.KEY: no request goes to b.example.com",
        "calls.wether: the organisation has no tool of this name",
        "timeout_seconds = 25 is more than the 20 that the operator of this server allows",
    ] {
        assert!(found.iter().any(|warning| warning.starts_with(words)), "{words} is not in {found:?}");
    }
    assert_eq!(found.len(), 6, "{found:?}");
    let log = log(&team, &tool, "1.0.0");
    assert!(found.iter().all(|warning| log.contains(&format!("warning: {warning}\n"))), "{log}");
    let said = team.lathe().json(&["tool", "publish", "typo", "--bump", "patch", "--yes"]);
    assert_eq!(said["warnings"].as_array().map(Vec::len), Some(7), "{said}");
}

#[test]
fn a_version_without_a_change_has_a_warning() {
    let team = Team::new();
    let tool = team.tool("same").published();
    let other = team.tool("other").pushed();
    let found = warnings(&tool, Bump::Patch);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("nothing has changed since 1.0.0"), "{found:?}");
    assert!(log(&team, &tool, "1.0.1").contains("warning: nothing has changed since 1.0.0"));
    let tool = tool.body("return 'other code'").pushed();
    assert_eq!(warnings(&tool, Bump::Patch), [""; 0]);
    let tool = tool.manifest("timeout_seconds = 3").pushed();
    assert_eq!(warnings(&tool, Bump::Patch), [""; 0], "other settings");
    let published = other.publish(Bump::Major).expect(201);
    assert_eq!(published, json!({"new_version": "1.0.0"}));
}
