//! Memories.

use serde_json::{Value, json};

use super::agent::{Agent, rows};

fn created(agent: &Agent, fields: Value) -> Value {
    let mut memory = json!({"content": "The customer prefers e-mail."});
    memory.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
    agent.data("memory_create", memory)
}

/// Asserts that a field is stored, and that it may be left out.
#[track_caller]
fn keeps(agent: &Agent, field: &str, value: Value) {
    let memory = created(agent, json!({field: value}));
    let found = agent.data("memory_get", json!({"memory_id": memory["memory_id"]}));
    assert_eq!((&found[field], &found), (&value, &memory));
    assert_eq!(created(agent, json!({}))[field], json!(null));
}

/// Asserts that a change of a field changes nothing else but the revision.
#[track_caller]
fn changes(agent: &Agent, field: &str, value: Value) {
    let memory = created(agent, json!({"summary": "before", "tags": ["before"]}));
    let id = &memory["memory_id"];
    let changed = agent.data("memory_update", json!({"memory_id": id, field: value}));
    assert_eq!((&changed[field], &changed["memory_id"], &changed["revision"]), (&value, id, &json!(2)));
    for other in ["content", "summary", "tags", "created_at"].into_iter().filter(|other| *other != field) {
        assert_eq!(changed[other], memory[other], "{other}");
    }
    assert_eq!(agent.data("memory_get", json!({"memory_id": id})), changed);
}

rows! {
    s0_029_memory_create_stores: |agent| {
        let memory = created(agent, json!({}));
        assert_eq!(memory["content"], "The customer prefers e-mail.");
        assert_eq!(agent.refused("memory_create", json!({})), ("input_schema".into(), 400));
    };
    s0_030_memory_create_kind: |agent| keeps(agent, "kind", json!("fact"));
    s0_031_memory_create_summary: |agent| keeps(agent, "summary", json!("Contact"));
    s0_032_memory_create_tags: |agent| keeps(agent, "tags", json!(["contact", "e-mail"]));
    s0_033_memory_create_category: |agent| keeps(agent, "category", json!("customers"));
    s0_034_memory_create_importance: |agent| {
        keeps(agent, "importance", json!(0.5));
        let arguments = json!({"content": "x", "importance": 2});
        assert_eq!(agent.refused("memory_create", arguments), ("input_schema".into(), 400));
    };
    s0_039_memory_list_limit: |agent| {
        for number in 0..3 {
            created(agent, json!({"kind": "s0_039", "summary": number.to_string()}));
        }
        let page = agent.data("memory_list", json!({"kind": "s0_039", "limit": 2}));
        let summaries = page["items"].as_array().expect("items").iter().map(|item| item["summary"].clone());
        assert_eq!((summaries.collect::<Value>(), &page["has_more"]), (json!(["2", "1"]), &json!(true)));
        assert_eq!(agent.refused("memory_list", json!({"limit": 201})), ("input_schema".into(), 400));
    };
    s0_040_memory_list_offset: |agent| {
        for number in 0..3 {
            created(agent, json!({"kind": "s0_040", "summary": number.to_string()}));
        }
        assert_eq!(agent.listed("memory_list", json!({"kind": "s0_040", "offset": 1}), "summary"), ["1", "0"]);
    };
    s0_041_memory_list_kind_filters: |agent| {
        created(agent, json!({"kind": "s0_041", "summary": "yes"}));
        created(agent, json!({"kind": "s0_041 not", "summary": "no"}));
        assert_eq!(agent.listed("memory_list", json!({"kind": "s0_041"}), "summary"), ["yes"]);
    };
    s0_042_memory_list_tags_filter: |agent| {
        created(agent, json!({"tags": ["s0_042", "a"], "summary": "one"}));
        created(agent, json!({"tags": ["s0_042", "b"], "summary": "other"}));
        assert_eq!(agent.listed("memory_list", json!({"tags": ["s0_042"]}), "summary"), ["other", "one"]);
        assert_eq!(agent.listed("memory_list", json!({"tags": ["a", "s0_042"]}), "summary"), ["one"]);
    };
    s0_043_memory_get: |agent| {
        let memory = created(agent, json!({}));
        assert_eq!(agent.data("memory_get", json!({"memory_id": memory["memory_id"]})), memory);
        for id in ["6b087fb88c8b71fedaf8732b", "nothing"] {
            assert_eq!(agent.refused("memory_get", json!({"memory_id": id})), ("not_found".into(), 404));
        }
    };
    s0_044_memory_update_content_in_place: |agent| changes(agent, "content", json!("The customer prefers calls."));
    s0_045_memory_update_summary: |agent| changes(agent, "summary", json!("after"));
    s0_046_memory_update_tags: |agent| changes(agent, "tags", json!(["after"]));
    s0_047_memory_update_other_fields: |agent| {
        changes(agent, "kind", json!("decision"));
        changes(agent, "category", json!("orders"));
        changes(agent, "importance", json!(1.0));
    };
    s0_048_memory_delete: |agent| {
        let id = created(agent, json!({}))["memory_id"].clone();
        assert_eq!(agent.data("memory_delete", json!({"memory_id": id})), json!({"memory_id": id, "deleted": true}));
        for tool in ["memory_get", "memory_delete", "memory_update"] {
            assert_eq!(agent.refused(tool, json!({"memory_id": id})), ("not_found".into(), 404), "{tool}");
        }
    };
    a_change_of_an_old_revision_is_refused: |agent| {
        let id = created(agent, json!({}))["memory_id"].clone();
        agent.data("memory_update", json!({"memory_id": id, "content": "first", "revision": 1}));
        let second = json!({"memory_id": id, "content": "second", "revision": 1});
        assert_eq!(agent.refused("memory_update", second), ("conflict".into(), 409));
        assert_eq!(agent.data("memory_get", json!({"memory_id": id}))["content"], "first");
    };
}
