//! The tools of the Library take the path of all other tools, and the platform supplies what their arguments do not have.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::agent::{Agent, rows};
use crate::harness::Team;
use crate::mcp::client::{Gateway, message, of_text};

/// Names of arguments by which a model would say who it is, or whose items it wants.
const CREDENTIALS: [&str; 8] =
    ["token", "authorization", "api_key", "organization", "org_id", "owner", "app_id", "workflow_id"];

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().unwrap_or_else(|| panic!("no object: {object}")).keys().cloned().collect()
}

/// The tools by which an item of each family is created, and the items.
pub(super) fn items() -> [(&'static str, &'static str, Value); 6] {
    let rule = json!({"description": "d", "content": "c", "category": "must", "severity": "low"});
    let report = json!({"title": "t", "artifact_type": "plan", "content": "c", "content_type": "text/plain"});
    [
        ("memory", "memory_create", json!({"content": "ours"})),
        ("rule", "rule_create", rule),
        ("skill", "skill_create", json!({"name": "ours", "content": "c"})),
        ("task", "task_create", json!({"description": "d"})),
        ("prompt", "prompt_create", json!({"name": "ours", "content": "c"})),
        ("artifact", "artifact_save", report),
    ]
}

#[test]
fn s0_002_tools_of_the_library_are_called_like_all_others() {
    let team = Team::new();
    let tool = of_text(team.tool("shout")).body("return {'loud': tool_input['text'].upper()}").published();
    let gateway = Gateway::of_type(&team, "mixed", "agent").with(&["shout"]);
    let names = gateway.names();
    let calls = [("shout", json!({"text": "hi"})), ("memory_create", json!({"content": "hi"}))];
    let shapes = calls.map(|(name, arguments)| {
        assert!(names.contains(&name.to_owned()), "{names:?}");
        let result = gateway.call(name, arguments);
        let run = result["_meta"]["dev.lathe/invocationId"].as_str().expect("an id");
        let record = team.get(&format!("/tool/invocation/{run}"));
        let called = &record["agent_call"];
        assert_eq!((&record["origin"], &record["user_id"]), (&json!("mcp"), &json!(team.user)), "{record}");
        assert_eq!(
            (&called["agent_id"], &called["client"]),
            (&json!(gateway.id), &json!("test-client 1.0")),
            "{record}"
        );
        [keys(&result), keys(&result["_meta"]), keys(&record), keys(called)]
    });
    assert_eq!(shapes[0], shapes[1]);
    let history = team.get(&format!("/tool/invocation?agent_id={}", gateway.id));
    let runs = history["tool_invocations"].as_array().expect("a list").iter();
    let tools: Vec<_> = runs.map(|run| (&run["tool_id"], &run["native_tool"])).collect();
    assert_eq!(
        tools,
        [(&json!("0".repeat(24)), &json!("memory_create")), (&json!(tool.id()), &json!(null))],
        "newest first"
    );
}

rows! {
    s0_003_the_platform_supplies_the_credentials: |agent| {
        let Agent(gateway) = agent;
        let request = gateway.team.server.request("POST", &gateway.path());
        let request = request.header("accept", "application/json, text/event-stream");
        let call = gateway.modern(request, "tools/call", json!({"name": "memory_list", "arguments": {}}));
        assert_eq!(call.send_message().status, 401);
        let listed = gateway.send("tools/list", json!({}));
        for tool in listed["result"]["tools"].as_array().expect("tools") {
            let arguments = &tool["inputSchema"]["properties"];
            assert!(CREDENTIALS.iter().all(|name| arguments.get(name).is_none()), "{tool}");
        }
    };
    s0_004_the_platform_supplies_the_scope: |agent| {
        let Agent(gateway) = agent;
        let request = gateway.request("POST").header("x-app-id", "s0-004").header("x-agent-workflow-id", "nightly");
        let call = json!({"name": "memory_create", "arguments": {"content": "scoped"}});
        let created = message(&gateway.modern(request, "tools/call", call).send_message());
        let memory = &created["result"]["structuredContent"]["data"];
        assert_eq!((&memory["owner"], &memory["app_id"]), (&json!(gateway.team.user), &json!("s0-004")), "{created}");
        assert_eq!(memory["provenance"]["workflow_id"], "nightly");
        for scope in ["owner", "app_id", "workflow_id", "organization"] {
            let refused = agent.refused("memory_create", json!({"content": "x", scope: "another"}));
            assert_eq!(refused, ("input_schema".into(), 400), "{scope}");
        }
    };
    // The typed clients retry: tests/typed_clients has the table of it.
    s0_005_a_repeated_call_does_nothing_twice: |agent| {
        let set = || agent.data("preference_set", json!({"key": "s0_005", "value": "UTC"}));
        assert_eq!(set(), set());
        let id = agent.data("memory_create", json!({"content": "before"}))["memory_id"].clone();
        let change = json!({"memory_id": id, "content": "after", "revision": 1});
        let changed = agent.data("memory_update", change.clone());
        assert_eq!(agent.refused("memory_update", change), ("conflict".into(), 409));
        assert_eq!(agent.data("memory_get", json!({"memory_id": id})), changed);
        agent.data("memory_delete", json!({"memory_id": id}));
        assert_eq!(agent.refused("memory_delete", json!({"memory_id": id})), ("not_found".into(), 404));
    };
}

#[test]
fn s0_006_items_of_another_organization_are_unknown_to_every_family() {
    let (ours, theirs) = (Team::new(), Team::new());
    let (our, their) = (Agent::of(&ours, "ours"), Agent::of(&theirs, "theirs"));
    for (family, creates, item) in items() {
        let id = format!("{family}_id");
        let created = our.data(creates, item)[&id].clone();
        let refused = their.refused(&format!("{family}_get"), json!({id.as_str(): created}));
        assert_eq!(refused, ("not_found".into(), 404), "{family}");
        assert!(their.listed(&format!("{family}_list"), json!({}), &id).is_empty(), "{family}");
    }
    our.data("preference_set", json!({"key": "tone", "value": "short"}));
    assert_eq!(their.refused("preference_get", json!({"key": "tone"})), ("not_found".into(), 404));
    assert!(their.listed("preference_list", json!({}), "key").is_empty());
}
