//! Prompts.

use serde_json::{Value, json};

use super::agent::{Agent, rows};

fn prompt(name: &str, fields: Value) -> Value {
    let mut prompt = json!({"name": name, "content": "Write to {{customer}}."});
    prompt.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
    prompt
}

#[track_caller]
fn keeps(agent: &Agent, name: &str, field: &str, value: Value) {
    assert_eq!(agent.data("prompt_create", prompt(name, json!({field: value})))[field], value);
}

rows! {
    s0_080_prompt_get: |agent| {
        let created = agent.data("prompt_create", prompt("s0_080", json!({})));
        let found = agent.data("prompt_get", json!({"prompt_id": created["prompt_id"]}));
        assert_eq!((&found["content"], &found), (&json!("Write to {{customer}}."), &created));
    };
    s0_081_prompt_list_type_filters: |agent| {
        agent.data("prompt_create", prompt("s0_081", json!({"type": "template"})));
        agent.data("prompt_create", prompt("s0_081 other", json!({"type": "skill"})));
        let listed = |of_type: &str, field: &str| {
            agent.listed("prompt_list", json!({"type": of_type, "limit": 200}), field)
        };
        for (of_type, expected) in [("template", [true, false]), ("skill", [false, true])] {
            let names = listed(of_type, "name");
            assert_eq!(["s0_081", "s0_081 other"].map(|name| names.contains(&json!(name))), expected, "{names:?}");
            let types = listed(of_type, "type");
            assert!(types.iter().all(|found| found == of_type), "{types:?}");
        }
    };
    s0_082_prompt_list_limit: |agent| {
        agent.data("prompt_create", prompt("s0_082 a", json!({"tags": ["s0_082"]})));
        agent.data("prompt_create", prompt("s0_082 b", json!({"tags": ["s0_082"]})));
        assert_eq!(agent.listed("prompt_list", json!({"tags": ["s0_082"], "limit": 1}), "name"), ["s0_082 b"]);
    };
    s0_083_prompt_list_offset: |agent| {
        agent.data("prompt_create", prompt("s0_083 a", json!({"tags": ["s0_083"]})));
        agent.data("prompt_create", prompt("s0_083 b", json!({"tags": ["s0_083"]})));
        assert_eq!(agent.listed("prompt_list", json!({"tags": ["s0_083"], "offset": 1}), "name"), ["s0_083 a"]);
    };
    s0_084_prompt_create_name: |agent| {
        assert_eq!(agent.refused("prompt_create", json!({"content": "x"})), ("input_schema".into(), 400));
    };
    s0_085_prompt_create_content: |agent| {
        assert_eq!(agent.refused("prompt_create", json!({"name": "s0_085"})), ("input_schema".into(), 400));
    };
    s0_086_prompt_create_type: |agent| {
        assert_eq!(agent.data("prompt_create", prompt("s0_086", json!({})))["type"], "user-prompt");
        keeps(agent, "s0_086 of the system", "type", json!("system-prompt"));
        let refused = agent.refused("prompt_create", prompt("s0_086 other", json!({"type": "poem"})));
        assert_eq!(refused, ("input_schema".into(), 400));
    };
    s0_087_prompt_create_description: |agent| keeps(agent, "s0_087", "description", json!("For letters."));
    s0_088_prompt_create_tags: |agent| keeps(agent, "s0_088", "tags", json!(["letters"]));
    s0_089_prompt_update: |agent| {
        let described = json!({"variables": [{"name": "customer", "description": "The name", "required": true}]});
        let id = agent.data("prompt_create", prompt("s0_089", described))["prompt_id"].clone();
        let changed = agent.data("prompt_update", json!({"prompt_id": id, "content": "{{customer}}: {{order}}"}));
        let names = changed["variables"].as_array().expect("a list").iter().map(|one| one["name"].clone());
        assert_eq!((names.collect::<Value>(), &changed["revision"]), (json!(["customer", "order"]), &json!(2)));
        assert_eq!(changed["variables"][0]["description"], "The name");
    };
    s0_149_prompts_have_types_versions_and_variables: |agent| {
        for of_type in ["system-prompt", "user-prompt", "skill", "template"] {
            keeps(agent, &format!("s0_149 {of_type}"), "type", json!(of_type));
        }
        let name = json!({"name": "customer", "description": "The name", "default_value": "Ada", "required": false});
        let created = agent.data("prompt_create", prompt("s0_149", json!({"variables": [name]})));
        assert_eq!((&created["variables"], &created["revision"]), (&json!([name]), &json!(1)));
        let update = |fields: Value| {
            let mut update = json!({"prompt_id": created["prompt_id"]});
            update.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
            agent.data("prompt_update", update)
        };
        assert_eq!(update(json!({"description": "For letters."}))["revision"], 2);
        assert_eq!(update(json!({}))["revision"], 3, "every update is a version");
        let order = json!({"name": "order", "description": null, "default_value": null, "required": true});
        assert_eq!(update(json!({"content": "{{customer}}: {{order}}"}))["variables"], json!([name, order]));
    };
    s0_149_every_version_of_a_prompt_is_read: |agent| {
        let created = agent.data("prompt_create", prompt("s0_149 versions", json!({"tags": ["first"]})));
        let id = &created["prompt_id"];
        let mut versions = vec![created.clone()];
        for (field, value) in [("content", json!("{{order}}")), ("tags", json!([])), ("type", json!("template")), ("content", json!("x"))] {
            versions.push(agent.data("prompt_update", json!({"prompt_id": id, field: value})));
        }
        for (version, written) in (1..).zip(&versions) {
            assert_eq!(&agent.data("prompt_get", json!({"prompt_id": id, "version": version})), written);
        }
        assert_eq!(&agent.data("prompt_get", json!({"prompt_id": id})), versions.last().expect("a version"));
        assert_eq!(agent.refused("prompt_get", json!({"prompt_id": id, "version": 6})), ("not_found".into(), 404));
        let late = json!({"prompt_id": id, "revision": 1, "content": "late"});
        assert_eq!(agent.refused("prompt_update", late), ("conflict".into(), 409));
        assert_eq!(agent.refused("prompt_get", json!({"prompt_id": id, "version": 6})), ("not_found".into(), 404));
    };
    s0_149_the_oldest_versions_of_a_prompt_are_deleted: |agent| {
        let id = agent.data("prompt_create", prompt("s0_149 many", json!({})))["prompt_id"].clone();
        for _ in 0..51 {
            agent.data("prompt_update", json!({"prompt_id": id}));
        }
        let get = |version: u32| json!({"prompt_id": id, "version": version});
        assert_eq!(agent.refused("prompt_get", get(1)), ("not_found".into(), 404));
        assert_eq!(agent.data("prompt_get", get(2))["revision"], 2);
    };
    s0_090_no_tool_deletes_prompts: |agent| {
        let names = agent.0.names();
        assert!(names.contains(&"prompt_get".to_owned()) && !names.contains(&"prompt_delete".to_owned()), "{names:?}");
    };
}
