//! Version constraints on the command line.

use serde_json::{Value, json};

use crate::harness::{Bump, Team};

#[test]
fn constraints_of_other_package_managers_are_understood() {
    let team = Team::new();
    let tool = team.tool("greet").body("return '1.0.0'").published();
    let publish = |version: &str, bump: Bump| {
        drop(team.tool("greet").body(&format!("return '{version}'")).pushed());
        tool.publish(bump).expect(201);
    };
    publish("1.0.1", Bump::Patch);
    publish("1.1.0", Bump::Minor);
    publish("2.0.0", Bump::Major);
    let lathe = team.lathe();
    for (constraint, version) in [
        ("1", "1.1.0"),
        ("1.0", "1.0.1"),
        ("1.0.0", "1.0.0"),
        ("1.x", "1.1.0"),
        ("1.0.*", "1.0.1"),
        ("^1.0.1", "1.1.0"),
        ("~1.0.0", "1.0.1"),
        ("~=1.0", "1.1.0"),
        (">=1,<2", "1.1.0"),
        ("*", "2.0.0"),
    ] {
        let output = lathe.ok(&["tool", "invoke", &format!("greet@{constraint}")]);
        assert_eq!(output.trim(), version, "{constraint}");
    }
    lathe.run(&["tool", "invoke", "greet@^"]).refused(2, &["`^` is no constraint", "^1.2"]);
    lathe.run(&["tool", "invoke", "greet@latest"]).refused(2, &["PEP 440", "leave it out for the newest version"]);
    // Over HTTP a constraint is PEP 440, and the refusal of another notation has its translation.
    for (constraint, translated) in [("%5E1", "`^1` is not PEP 440; write `>=1,<2`"), ("1.x", "write `==1.*`")] {
        let path = format!("/tool/{}/version/{constraint}/invoke", tool.id());
        let refused = team.request("POST", &path).json(&json!({"inputs": []})).send().expect(422);
        assert!(refused.to_string().contains(translated), "{refused}");
    }
    lathe.run(&["tool", "invoke", "greet@3"]).refused(1, &["no live version of greet that matches ==3.*"]);
    let listed = lathe.json(&["tool", "versions", "greet", "--versions", "^1.0.1"]);
    assert_eq!(listed["tool_versions"].as_array().map(Vec::len), Some(2));
    assert_eq!(lathe.json(&["tool", "show", "greet", "1"])["version"], json!({"major": 1, "minor": 1, "patch": 0}));
    // The question names what would be deprecated.
    lathe.run(&["tool", "deprecate", "greet", "--versions", "1.0"]).refused(2, &["--yes"]);
    let said = lathe.ok(&["tool", "deprecate", "greet", "--versions", "1.0", "--yes"]);
    assert_eq!(said.trim(), "deprecated greet 1.0.1, 1.0.0");
    assert_eq!(lathe.json(&["tool", "show", "greet"])["live_versions"], json!(["2.0.0", "1.1.0"]));
    let history = lathe.json(&["history", "list", "--tool", "greet", "--version", "2"]);
    assert!(history["tool_invocations"].as_array().is_some_and(|found| !found.is_empty()), "{history}");
    let id: Value = history["tool_invocations"][0]["id"].clone();
    lathe.ok(&["replay", id.as_str().expect("an id"), "--version", "^2"]);
}
