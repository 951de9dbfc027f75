//! Versions of tools with APIs.

use serde_json::json;

use super::{declared, function, orders};
use crate::harness::{Bump, Team};

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
