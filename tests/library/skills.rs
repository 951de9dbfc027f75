//! Skills.

use serde_json::{Value, json};

use super::agent::rows;

fn skill(name: &str) -> Value {
    json!({"name": name, "content": "# Refunds\n\nAsk for the order of {{customer}}.", "description": "Refunds orders."})
}

rows! {
    s0_060_skill_create: |agent| {
        let created = agent.data("skill_create", skill("s0-060"));
        assert_eq!((&created["name"], &created["revision"]), (&json!("s0-060"), &json!(1)));
        assert_eq!(agent.refused("skill_create", skill("s0-060")), ("conflict".into(), 409));
    };
    s0_061_skill_list: |agent| {
        agent.data("skill_create", skill("s0-061"));
        let page = agent.data("skill_list", json!({"limit": 200}));
        let listed = page["items"].as_array().expect("items").iter().find(|item| item["name"] == "s0-061");
        assert_eq!(listed.expect("the skill")["content"], json!(null), "lists have no instructions");
    };
    s0_062_skill_get: |agent| {
        let created = agent.data("skill_create", skill("s0-062"));
        assert_eq!(agent.data("skill_get", json!({"skill_id": created["skill_id"]})), created);
    };
    s0_063_skill_update: |agent| {
        let id = agent.data("skill_create", skill("s0-063"))["skill_id"].clone();
        let changed = agent.data("skill_update", json!({"skill_id": id, "content": "Ask {{manager}}."}));
        assert_eq!((&changed["variables"], &changed["revision"]), (&json!(["manager"]), &json!(2)));
        assert_eq!(changed["description"], "Refunds orders.");
    };
    s0_064_skill_delete: |agent| {
        let id = agent.data("skill_create", skill("s0-064"))["skill_id"].clone();
        agent.data("skill_delete", json!({"skill_id": id}));
        assert_eq!(agent.refused("skill_get", json!({"skill_id": id})), ("not_found".into(), 404));
        agent.data("skill_create", skill("s0-064"));
    };
    s0_148_skills_have_versions_and_are_no_prompts: |agent| {
        let mut named = skill("s0-148");
        named["mcp_tools"] = json!(["refund_order"]);
        let created = agent.data("skill_create", named);
        assert_eq!((&created["mcp_tools"], &created["variables"]), (&json!(["refund_order"]), &json!(["customer"])));
        let id = &created["skill_id"];
        let changed = agent.data("skill_update", json!({"skill_id": id, "content": "Ask {{manager}} of {{customer}}."}));
        assert_eq!((&changed["revision"], &changed["variables"]), (&json!(2), &json!(["customer", "manager"])));
        let old = json!({"skill_id": id, "revision": 1, "description": "x"});
        assert_eq!(agent.refused("skill_update", old), ("conflict".into(), 409));
        assert_eq!(agent.refused("prompt_get", json!({"prompt_id": id})), ("not_found".into(), 404));
        agent.data("prompt_create", json!({"name": "s0-148", "content": "x", "type": "skill"}));
        assert_eq!(agent.data("skill_get", json!({"skill_id": id}))["content"], changed["content"]);
    };
    s0_148_uses_of_a_skill_are_counted: |agent| {
        let created = agent.data("skill_create", skill("s0-148-uses"));
        let get = || agent.data("skill_get", json!({"skill_id": created["skill_id"]}));
        let uses: Vec<_> = (0..3).map(|_| get()["usage_count"].clone()).collect();
        assert_eq!((&created["usage_count"], uses), (&json!(0), vec![json!(0), json!(1), json!(2)]));
        assert_eq!(get()["revision"], 1, "a use is no change");
        let set = json!({"skill_id": created["skill_id"], "usage_count": 9});
        assert_eq!(agent.refused("skill_update", set), ("input_schema".into(), 400));
    };
    s0_148_earlier_versions_of_a_skill_are_read: |agent| {
        let created = agent.data("skill_create", skill("s0-148-versions"));
        let id = &created["skill_id"];
        let get = |version: Value| json!({"skill_id": id, "version": version});
        let update = json!({"skill_id": id, "name": "s0-148-renamed", "content": "Ask {{manager}}."});
        let changed = agent.data("skill_update", update);
        let first = agent.data("skill_get", get(json!(1)));
        for field in ["name", "content", "variables", "revision", "updated_at", "provenance", "owner", "created_at"] {
            assert_eq!(first[field], created[field], "{field}");
        }
        assert_eq!((&first["revision"], &first["provenance"]["trusted"]), (&json!(1), &json!(false)), "an agent wrote it");
        for present in [json!(2), json!(null)] {
            assert_eq!(agent.data("skill_get", get(present))["content"], changed["content"]);
        }
        for unknown in [3, 1_000_000_000_000_000_i64] {
            assert_eq!(agent.refused("skill_get", get(json!(unknown))), ("not_found".into(), 404), "{unknown}");
        }
        for wrong in [json!(0), json!("1"), json!(1.5)] {
            assert_eq!(agent.refused("skill_get", get(wrong)), ("input_schema".into(), 400));
        }
        agent.data("skill_delete", json!({"skill_id": id}));
        assert_eq!(agent.refused("skill_get", get(json!(1))), ("not_found".into(), 404));
    };
    s0_148_earlier_versions_are_read_over_rest: |agent| {
        let team = agent.0.team;
        let get = |path: &str| team.server.request("GET", &format!("/api/v1/{path}")).bearer(&team.token).send();
        let created = agent.data("skill_create", skill("s0-148-rest"));
        let path = format!("skills/{}", created["skill_id"].as_str().expect("an id"));
        let patch = team.server.request("PATCH", &format!("/api/v1/{path}")).bearer(&team.token);
        let changed = patch.json(&json!({"content": "Ask {{manager}}."})).send().expect(200);
        let [first, second] = [1, 2].map(|version| get(&format!("{path}?version={version}")).expect(200)["data"].clone());
        assert_eq!((&first["content"], &first["provenance"]), (&created["content"], &created["provenance"]));
        assert_eq!(second, changed["data"]);
        assert_eq!((&first["provenance"]["trusted"], &second["provenance"]["trusted"]), (&json!(false), &json!(true)));
        let unknown = get(&format!("{path}?version=3"));
        assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!("not_found")), "{unknown}");
        let wrong = get(&format!("{path}?version=first"));
        assert_eq!((wrong.status, &wrong.json()["error"]["code"]), (400, &json!("input_schema")), "{wrong}");
        let others = get(&format!("{path}?version=1&limit=1"));
        assert_eq!((others.status, &others.json()["error"]["code"]), (400, &json!("input_schema")), "{others}");
        let of_app = team.server.request("GET", &format!("/api/v1/{path}?version=1")).bearer(&team.token);
        assert_eq!(of_app.header("x-app-id", "shop").send().status, 404, "of another application");
    };
    s0_065_skill_content_is_markdown: |agent| {
        let created = agent.data("skill_create", skill("s0-065"));
        assert_eq!(created["content"], "# Refunds\n\nAsk for the order of {{customer}}.");
        assert_eq!(created["variables"], json!(["customer"]));
    };
}
