//! Declarations for models and clients, from the project file to the version.

use serde_json::{Value, json};

use crate::harness::{Bump, Team};

#[test]
fn a_version_shows_what_its_author_declares() {
    let team = Team::new();
    let declared = "intervention = 'required'\ntasks = 'optional'\n\
        intervention_rules = [{ when = { all = { const = true } }, intervention = 'always' }]\nannotations = { title = 'Cancel an order', \
        destructive = true, idempotent = true, open_world = false }";
    let tool = team.tool("cancels").manifest(declared).body("return {'done': True}").published();
    let annotations = json!({"title": "Cancel an order", "destructive": true, "idempotent": true, "open_world": false});
    let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let list = team.get(&format!("/tool/{}/version", tool.id()));
    for shown in [&detail, &detail["settings"], &list["tool_versions"][0]] {
        assert_eq!((&shown["annotations"], &shown["intervention"]), (&annotations, &json!("required")), "{shown}");
        assert_eq!(shown["tasks"], "optional", "{shown}");
        let rule = json!({"when": {"all": {"const": true}}, "intervention": "always"});
        assert_eq!(shown["intervention_rules"], json!([rule]), "{shown}");
    }
    let text = team.lathe().ok(&["tool", "show", "cancels", "1.0.0"]);
    assert!(text.lines().any(|line| line.starts_with("intervention ") && line.ends_with(" required")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("intervention_rules ") && line.contains("always")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("tasks ") && line.ends_with(" optional")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("annotations ") && line.contains("Cancel an order")), "{text}");
    // A declaration has no effect on the server: the tool runs.
    assert_eq!(tool.invoke(json!({})).json(), json!({"done": true}));
}

#[test]
fn a_version_without_declarations_shows_none() {
    let team = Team::new();
    let tool = team.tool("get_nothing").body("return 1").published();
    let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    for shown in [&detail, &detail["settings"]] {
        assert_eq!((shown.get("annotations"), shown.get("intervention")), (None::<&Value>, None), "{shown}");
        assert_eq!(shown.get("tasks"), None::<&Value>, "{shown}");
    }
}

#[test]
fn a_promise_that_ends_needs_a_major_bump() {
    let team = Team::new();
    let project = |lines: &str| format!("[project]\nname = 'reads'\n[tool.lathe]\n{lines}\n");
    let declared = project("intervention = 'always'\nannotations = { read_only = true }");
    let tool = team.tool("reads").with_file("pyproject.toml", &declared).published();
    let changed = project("tasks = 'required'\nannotations = { read_only = false }");
    let tool = tool.with_file("pyproject.toml", &changed).pushed();
    let refused = tool.publish(Bump::Minor).detail();
    for reason in [
        "the tool is not declared read-only any more",
        "no person confirms each call any more",
        "only MCP clients with tasks may call the tool now",
    ] {
        assert!(refused.contains(reason), "{refused}");
    }
    assert_eq!(tool.publish(Bump::Auto).expect(201)["new_version"], "2.0.0");
}
