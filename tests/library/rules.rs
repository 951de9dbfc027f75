//! Rules.

use serde_json::{Value, json};

use super::agent::{Agent, rows};

fn rule(fields: Value) -> Value {
    let mut rule = json!({
        "description": "No discounts", "content": "Never grant a discount.", "category": "must-not", "severity": "high",
    });
    rule.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
    rule
}

/// Asserts that a rule without a field is refused, with the name of the field.
#[track_caller]
fn requires(agent: &Agent, field: &str) {
    let mut rule = rule(json!({}));
    rule.as_object_mut().expect("an object").remove(field);
    let error = agent.error("rule_create", rule);
    assert_eq!(
        (&error["code"], error["details"].to_string().contains(field)),
        (&json!("input_schema"), true),
        "{error}"
    );
}

/// The warnings about a rule that a user writes over HTTP, without an agent.
fn warnings(agent: &Agent<'_>, fields: Value) -> Vec<String> {
    let team = &agent.0.team;
    let written =
        team.server.request("POST", "/api/v1/rules").bearer(&team.token).json(&rule(fields)).send().expect(201);
    let warnings = written["data"]["warnings"].as_array().map_or(&[][..], Vec::as_slice);
    warnings.iter().map(|warning| warning.as_str().expect("a text").to_owned()).collect()
}

rows! {
    s0_049_rule_create_description: |agent| requires(agent, "description");
    s0_050_rule_create_content: |agent| requires(agent, "content");
    s0_051_rule_create_category: |agent| {
        requires(agent, "category");
        for category in ["must", "must-not", "should"] {
            assert_eq!(agent.data("rule_create", rule(json!({"category": category})))["category"], category);
        }
        let refused = agent.refused("rule_create", rule(json!({"category": "may"})));
        assert_eq!(refused, ("input_schema".into(), 400));
    };
    s0_052_rule_create_severity: |agent| {
        requires(agent, "severity");
        for severity in ["critical", "high", "medium", "low"] {
            assert_eq!(agent.data("rule_create", rule(json!({"severity": severity})))["severity"], severity);
        }
    };
    s0_053_rule_create_enforcement_mode: |agent| {
        assert_eq!(agent.data("rule_create", rule(json!({})))["enforcement_mode"], "inject");
        for mode in ["inject", "gate", "both"] {
            assert_eq!(agent.data("rule_create", rule(json!({"enforcement_mode": mode})))["enforcement_mode"], mode);
        }
    };
    s0_054_rule_list_limit: |agent| {
        for _ in 0..2 {
            agent.data("rule_create", rule(json!({})));
        }
        assert_eq!(agent.listed("rule_list", json!({"limit": 1}), "rule_id").len(), 1);
    };
    s0_055_rule_list_category_filters: |agent| {
        agent.data("rule_create", rule(json!({"category": "should"})));
        agent.data("rule_create", rule(json!({"category": "must"})));
        let listed = agent.listed("rule_list", json!({"category": "should", "limit": 200}), "category");
        assert!(!listed.is_empty() && listed.iter().all(|category| category == "should"), "{listed:?}");
    };
    s0_056_rule_list_enabled_only_filters: |agent| {
        let off = agent.data("rule_create", rule(json!({"enabled": false})))["rule_id"].clone();
        let on = agent.data("rule_create", rule(json!({})))["rule_id"].clone();
        let all = agent.listed("rule_list", json!({"limit": 200}), "rule_id");
        assert!(all.contains(&on) && all.contains(&off));
        let enabled = agent.listed("rule_list", json!({"enabled_only": true, "limit": 200}), "rule_id");
        assert!(enabled.contains(&on) && !enabled.contains(&off));
    };
    s0_057_rule_get: |agent| {
        let created = agent.data("rule_create", rule(json!({})));
        assert_eq!(agent.data("rule_get", json!({"rule_id": created["rule_id"]})), created);
    };
    s0_058_rule_update: |agent| {
        let id = agent.data("rule_create", rule(json!({})))["rule_id"].clone();
        let changed = agent.data("rule_update", json!({"rule_id": id, "severity": "low", "enabled": false}));
        assert_eq!((&changed["severity"], &changed["enabled"], &changed["category"]), (&json!("low"), &json!(false), &json!("must-not")));
    };
    a_rule_that_can_never_act_has_a_warning: |agent| {
        let _tool = agent.0.team.tool("payments").published();
        for (fields, words) in [
            (json!({"enforcement_mode": "gate"}), "enforcement_mode: a gate without triggers.tool_name"),
            (json!({"enforcement_mode": "both", "category": "must"}), "enforcement_mode: a gate of the category must "),
            (json!({"enforcement_mode": "gate", "triggers": {"tool_name": "paymnets"}}), "triggers.tool_name: the organization has no tool paymnets"),
            (json!({"enforcement_mode": "gate", "triggers": {"tool_name": "payments_create"}}), "triggers.tool_name: the organization has no tool"),
            (json!({"triggers": {}}), "triggers: nothing triggers the rule"),
            (json!({"content": "x".repeat(20_000)}), "content: the rule has 20000 bytes"),
        ] {
            let found = warnings(agent, fields.clone());
            assert!(found.len() == 1 && found[0].starts_with(words), "{fields}: {found:?}");
        }
        for fields in [
            json!({}),
            json!({"enforcement_mode": "gate", "triggers": {"tool_name": "payments"}}),
            json!({"enforcement_mode": "gate", "enabled": false}),
        ] {
            assert_eq!(warnings(agent, fields.clone()), [""; 0], "{fields}");
        }
        let gate = json!({"enforcement_mode": "gate", "triggers": {"tool_name": "payments"}});
        let of_agent = agent.data("rule_create", rule(gate));
        assert!(of_agent["warnings"][0].as_str().is_some_and(|text| text.contains("an agent or a workflow wrote")), "{of_agent}");
    };
    s0_144_rule_fields: |agent| {
        let plain = agent.data("rule_create", rule(json!({})));
        assert_eq!((&plain["level"], &plain["violation_count"]), (&json!("user"), &json!(0)));
        for level in ["system", "org", "user", "agent"] {
            assert_eq!(agent.data("rule_create", rule(json!({"level": level})))["level"], level);
        }
        for (field, value) in [("enforcement_mode", "ask"), ("severity", "urgent"), ("level", "team")] {
            let refused = agent.refused("rule_create", rule(json!({field: value})));
            assert_eq!(refused, ("input_schema".into(), 400), "{field}");
        }
        let triggers = json!({"keywords": ["discount"], "tool_name": "grant", "embedding": [0.5, -1.0], "always": false});
        let created = agent.data("rule_create", rule(json!({"enforcement_mode": "both", "triggers": triggers})));
        assert_eq!((&created["triggers"], &created["enforcement_mode"]), (&triggers, &json!("both")));
        let counted = agent.data("rule_update", json!({"rule_id": created["rule_id"], "violation_count": 3}));
        assert_eq!((&counted["violation_count"], &counted["triggers"]), (&json!(3), &triggers));
    };
    s0_144_rule_list_bounds: |agent| {
        for _ in 0..51 {
            agent.data("rule_create", rule(json!({})));
        }
        assert_eq!(agent.listed("rule_list", json!({}), "rule_id").len(), 50);
        agent.data("rule_list", json!({"limit": 200}));
        assert_eq!(agent.refused("rule_list", json!({"limit": 201})), ("input_schema".into(), 400));
    };
    s0_059_rule_delete: |agent| {
        let id = agent.data("rule_create", rule(json!({})))["rule_id"].clone();
        agent.data("rule_delete", json!({"rule_id": id}));
        assert_eq!(agent.refused("rule_get", json!({"rule_id": id})), ("not_found".into(), 404));
    };
}
