//! The items that a user sees.

use serde_json::{Value, json};

use super::agent::Agent;
use super::one_path::items;
use crate::harness::Team;
use crate::mcp::client::message;

#[test]
fn s0_102_the_user_with_whom_an_artifact_is_shared_reads_it() {
    let ada = Team::new();
    let (bea, cy) = (ada.joined_by("bea", "admin"), ada.joined_by("cy", "admin"));
    let agents = [&ada, &bea, &cy].map(|team| Agent::of(team, &format!("desk-{}", team.user)));
    let [of_ada, of_bea, of_cy] = &agents;
    let report = json!({"title": "Sales", "artifact_type": "report", "content": "x", "content_type": "text/plain"});
    let id = of_ada.data("artifact_save", report)["artifact_id"].clone();
    let one = json!({"artifact_id": id});
    assert_eq!(of_bea.refused("artifact_get", one.clone()), ("not_found".into(), 404));

    of_ada.data("artifact_share", json!({"artifact_id": id, "user_id": "bea"}));
    assert_eq!(of_bea.data("artifact_get", one.clone())["title"], "Sales");
    assert_eq!(json!(of_bea.listed("artifact_list", json!({}), "artifact_id")), json!([id]));
    assert_eq!(of_cy.refused("artifact_get", one.clone()), ("not_found".into(), 404));
    // Sharing gives no right to delete or to share.
    assert_eq!(of_bea.refused("artifact_delete", one), ("not_found".into(), 404));
    let with_cy = json!({"artifact_id": id, "user_id": "cy"});
    assert_eq!(of_bea.refused("artifact_share", with_cy), ("not_found".into(), 404));
    let nobody = json!({"artifact_id": id, "user_id": "nobody"});
    assert_eq!(of_ada.refused("artifact_share", nobody), ("invalid_value".into(), 400));
}

#[test]
fn s0_146_an_artifact_is_shared_with_the_organisation() {
    let (ada, stranger) = (Team::new(), Team::new());
    let bea = ada.joined_by("bea", "admin");
    let agents = [&ada, &bea, &stranger].map(|team| Agent::of(team, &format!("room-{}", team.user)));
    let [of_ada, of_bea, of_stranger] = &agents;
    let save = |visibility: &str, is_visible: bool| {
        let mut report =
            json!({"title": "Sales", "artifact_type": "plan", "content": "x", "content_type": "text/plain"});
        report[visibility] = json!(is_visible);
        let saved = of_ada.data("artifact_save", report);
        assert_eq!(saved[visibility], is_visible, "{saved}");
        json!({"artifact_id": saved["artifact_id"]})
    };
    for visibility in ["shared_to_org", "is_public"] {
        let own = save(visibility, false);
        assert_eq!(of_bea.refused("artifact_get", own), ("not_found".into(), 404), "{visibility}");
        let open = save(visibility, true);
        assert_eq!(of_bea.data("artifact_get", open.clone())["title"], "Sales", "{visibility}");
        assert_eq!(of_bea.refused("artifact_delete", open.clone()), ("not_found".into(), 404), "{visibility}");
        assert_eq!(of_stranger.refused("artifact_get", open), ("not_found".into(), 404), "{visibility}");
    }
}

#[test]
fn s0_124_125_and_128_applications_of_one_user_do_not_see_each_others_items() {
    let team = Team::new();
    let agent = Agent::of(&team, "apps");
    let call = |header: (&str, &str), tool: &str, arguments: Value| {
        let request = agent.0.request("POST").header(header.0, header.1).header("x-agent-workflow-id", "nightly");
        let request = agent.0.modern(request, "tools/call", json!({"name": tool, "arguments": arguments}));
        message(&request.send_message())["result"]["structuredContent"].clone()
    };
    let (shop, desk) = (("x-app-id", "shop"), ("x-app-id", "desk"));
    let created = call(shop, "memory_create", json!({"content": "of the shop"}));
    let memory = &created["data"];
    assert_eq!((&memory["app_id"], &memory["provenance"]["workflow_id"]), (&json!("shop"), &json!("nightly")));
    let one = json!({"memory_id": memory["memory_id"]});
    assert_eq!(call(("x-strongly-app-id", "shop"), "memory_get", one.clone())["data"], *memory);
    assert_eq!(call(desk, "memory_get", one.clone())["error"]["code"], "not_found");
    assert_eq!(call(desk, "memory_list", json!({}))["data"]["items"], json!([]));
    assert_eq!(agent.refused("memory_get", one), ("not_found".into(), 404), "outside of all applications");
}

#[test]
fn s0_129_headers_that_contradict_each_other_are_refused() {
    let team = Team::new();
    let agent = Agent::of(&team, "odd");
    for (name, value) in [("x-app-id", "other"), ("x-app-id", "a b"), ("x-org-id", "another")] {
        let request = agent.0.request("POST").header("x-strongly-app-id", "shop").header(name, value);
        let answer = agent.0.modern(request, "tools/list", json!({})).send_message();
        assert!(matches!(answer.status, 400 | 404), "{name}: {answer}");
    }
}

#[test]
fn s0_126_and_127_items_of_another_organization_do_not_exist() {
    let (ours, theirs) = (Team::new(), Team::new());
    let (our, their) = (Agent::of(&ours, "ours"), Agent::of(&theirs, "theirs"));
    let id = our.data("memory_create", json!({"content": "ours"}))["memory_id"].clone();
    for (tool, arguments) in [
        ("memory_get", json!({"memory_id": id})),
        ("memory_update", json!({"memory_id": id, "content": "theirs"})),
        ("memory_delete", json!({"memory_id": id})),
    ] {
        assert_eq!(their.refused(tool, arguments), ("not_found".into(), 404), "{tool}");
    }
    assert!(their.listed("memory_list", json!({}), "memory_id").is_empty());
    assert_eq!(our.data("memory_get", json!({"memory_id": id}))["content"], "ours");
}

/// The tools of a family that change an item, with arguments beside the id of the item.
fn writes(agent: &Agent, family: &str) -> Vec<(String, Value)> {
    let names = agent.0.names().into_iter();
    let with_arguments = names.filter_map(|name| {
        let arguments = match name.strip_prefix(family)?.strip_prefix('_')? {
            "create" | "save" | "get" | "list" | "search" => return None,
            "update" => json!({"content": "theirs"}),
            "share" => json!({"user_id": agent.0.team.user}),
            _ => json!({}),
        };
        Some((name, arguments))
    });
    with_arguments.collect()
}

#[test]
fn s0_127_writes_of_another_organization_change_no_item_of_any_family() {
    let (ours, theirs) = (Team::new(), Team::new());
    let (our, their) = (Agent::of(&ours, "ours"), Agent::of(&theirs, "theirs"));
    let mut count = 0;
    for (family, creates, item) in items() {
        let id = format!("{family}_id");
        let created = our.data(creates, item);
        for (tool, mut arguments) in writes(&their, family) {
            arguments[&id] = created[&id].clone();
            assert_eq!(their.refused(&tool, arguments), ("not_found".into(), 404), "{tool}");
            count += 1;
        }
        let found = our.data(&format!("{family}_get"), json!({id.as_str(): created[&id]}));
        assert_eq!(found, created, "{family}");
    }
    assert_eq!(count, 13, "tools that change an item");
}

#[test]
fn s0_127_a_preference_of_another_organization_is_not_overwritten() {
    let (ours, theirs) = (Team::new(), Team::new());
    let (our, their) = (Agent::of(&ours, "ours"), Agent::of(&theirs, "theirs"));
    let set = our.data("preference_set", json!({"key": "tone", "value": "short"}));
    assert_eq!(their.refused("preference_forget", json!({"key": "tone"})), ("not_found".into(), 404));
    let other = their.data("preference_set", json!({"key": "tone", "value": "long"}));
    assert_eq!((&other["revision"], &other["supersedes"]), (&json!(1), &json!(null)));
    their.data("preference_forget", json!({"key": "tone"}));
    assert_eq!(our.data("preference_get", json!({"key": "tone"})), set);
}
