//! Versions of tools with APIs.

use serde_json::{Value, json};

use super::{declared, function, orders};
use crate::harness::{Bump, Team};

#[test]
fn a_list_of_versions_shows_the_declarations_of_each_api() {
    let team = Team::new();
    let code = ["create", "list", "remove"].map(|name| function(name, "", "return 1")).concat();
    let more = declared("remove", "intervention = 'always'\nannotations = { destructive = true }");
    let tool = orders(&team).manifest(&more).with_file("tool.py", &code).published();
    let expected = json!({
        "create": {}, "list": {}, "remove": {"annotations": {"destructive": true}, "intervention": "always"},
    });
    let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let list = team.get(&format!("/tool/{}/version", tool.id()));
    for shown in [&detail, &list["tool_versions"][0]] {
        assert_eq!(shown["apis"], expected, "{shown}");
    }
    let text = team.lathe().ok(&["tool", "show", "orders", "1.0.0"]);
    assert!(text.lines().any(|line| line.starts_with("apis ") && line.contains("\"always\"")), "{text}");
    let plain = team.tool("plain").body("return 1").published();
    let detail = team.get(&format!("/tool/{}/version/1.0.0", plain.id()));
    assert_eq!(detail.get("apis"), None::<&Value>, "{detail}");
}

#[test]
fn the_gate_compares_each_api() {
    let team = Team::new();
    let tool = orders(&team).published();
    let code = ["create", "list", "remove"].map(|name| function(name, "", "return 1")).concat();
    let tool = tool.manifest(&declared("remove", "")).with_file("tool.py", &code).pushed();
    let refused = tool.publish(Bump::Patch).detail();
    assert!(refused.contains("the API remove is new"), "{refused}");
    assert_eq!(tool.publish(Bump::Auto).expect(201)["new_version"], "1.1.0");
    let id = tool.id().to_owned();
    let tool = orders(&team).with_id(&id).pushed();
    let refused = tool.publish(Bump::Minor).detail();
    assert!(refused.contains("the API remove is gone"), "{refused}");
    assert!(refused.contains("API create: "), "the schema of create is narrower: {refused}");
    assert_eq!(tool.publish(Bump::Auto).expect(201)["new_version"], "2.0.0");
    assert_eq!(tool.invoke(json!({"api": "create", "arguments": {"item": "pen"}})).json()["count"], 1);
}
