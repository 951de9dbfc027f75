//! Preferences.

use serde_json::{Value, json};

use super::agent::{Agent, rows};
use crate::harness::Team;

/// The team has no other preferences, so that whole pages are known.
#[test]
fn s0_111_and_s0_112_preference_list_limit_and_offset() {
    let team = Team::new();
    let agent = Agent::of(&team, "pages");
    for key in ["a", "b", "c"] {
        agent.data("preference_set", json!({"key": key, "value": 1}));
    }
    for (arguments, expected, has_more) in [
        (json!({}), vec!["c", "b", "a"], false),
        (json!({"limit": 1}), vec!["c"], true),
        (json!({"limit": 3}), vec!["c", "b", "a"], false),
        (json!({"offset": 1}), vec!["b", "a"], false),
        (json!({"limit": 1, "offset": 1}), vec!["b"], true),
        (json!({"offset": 3}), vec![], false),
    ] {
        assert_eq!(json!(agent.listed("preference_list", arguments.clone(), "key")), json!(expected), "{arguments}");
        assert_eq!(agent.data("preference_list", arguments.clone())["has_more"], has_more, "{arguments}");
    }
}

rows! {
    s0_104_preference_set_key: |agent| {
        assert_eq!(agent.refused("preference_set", json!({"value": 1})), ("input_schema".into(), 400));
    };
    s0_105_preference_set_value: |agent| {
        assert_eq!(agent.refused("preference_set", json!({"key": "s0_105"})), ("input_schema".into(), 400));
        for value in [json!("UTC"), json!(1.5), json!(null), json!({"a": [true]})] {
            assert_eq!(agent.data("preference_set", json!({"key": "s0_105", "value": value}))["value"], value);
        }
    };
    s0_106_preference_set_source: |agent| {
        assert_eq!(agent.data("preference_set", json!({"key": "s0_106", "value": 1}))["source"], "explicit");
        for source in ["explicit", "learned", "inferred", "imported", "manual"] {
            let set = json!({"key": "s0_106", "value": 1, "source": source});
            assert_eq!(agent.data("preference_set", set)["source"], source);
        }
        let refused = agent.refused("preference_set", json!({"key": "s0_106", "value": 1, "source": "guessed"}));
        assert_eq!(refused, ("input_schema".into(), 400));
    };
    s0_107_preference_set_description: |agent| {
        let set = json!({"key": "s0_107", "value": "formal", "description": "The tone of letters."});
        assert_eq!(agent.data("preference_set", set)["description"], "The tone of letters.");
    };
    s0_108_preference_set_twice_is_one_preference: |agent| {
        let first = agent.data("preference_set", json!({"key": "s0_108", "value": "a"}));
        let second = agent.data("preference_set", json!({"key": "s0_108", "value": "b"}));
        assert_eq!((&second["preference_id"], &second["revision"]), (&first["preference_id"], &json!(2)));
        let keys = agent.listed("preference_list", json!({"limit": 200}), "key");
        assert_eq!(keys.iter().filter(|key| *key == "s0_108").count(), 1);
        let same = agent.data("preference_set", json!({"key": "s0_108", "value": "b"}));
        assert_eq!(same, second, "the same value changes nothing");
    };
    s0_147_a_new_value_supersedes_the_old_one: |agent| {
        let set = |value: Value, source: &str| {
            agent.data("preference_set", json!({"key": "s0_147", "value": value, "source": source}))
        };
        let first = set(json!("a"), "learned");
        assert_eq!((&first["revision"], &first["supersedes"]), (&json!(1), &json!(null)));
        assert_eq!(set(json!("a"), "learned"), first, "the same value changes nothing");
        let second = set(json!("b"), "manual");
        let a = json!({"value": "a", "source": "learned", "revision": 1, "updated_at": first["updated_at"]});
        assert_eq!((&second["preference_id"], &second["supersedes"]), (&first["preference_id"], &json!([a])));
        assert_eq!(set(json!("b"), "manual"), second, "the same value changes nothing");
        let third = set(json!({"c": 1}), "explicit");
        let b = json!({"value": "b", "source": "manual", "revision": 2, "updated_at": second["updated_at"]});
        assert_eq!((&third["supersedes"], &third["revision"]), (&json!([a, b]), &json!(3)));
        assert_eq!(agent.data("preference_get", json!({"key": "s0_147"})), third);
        let listed = agent.data("preference_list", json!({"limit": 200}));
        let listed = listed["items"].as_array().expect("items").iter().find(|item| item["key"] == "s0_147");
        assert_eq!(listed.expect("the preference")["supersedes"], json!(null), "lists have no earlier values");
        let forged = json!({"key": "s0_147", "value": 1, "supersedes": []});
        assert_eq!(agent.refused("preference_set", forged), ("input_schema".into(), 400));
    };
    s0_109_preference_get: |agent| {
        let set = agent.data("preference_set", json!({"key": "s0_109", "value": "UTC"}));
        assert_eq!(agent.data("preference_get", json!({"key": "s0_109"})), set);
        assert_eq!(agent.refused("preference_get", json!({"key": "s0_109 not"})), ("not_found".into(), 404));
    };
    s0_110_preference_list_source_filters: |agent| {
        for source in ["imported", "inferred"] {
            agent.data("preference_set", json!({"key": format!("s0_110 {source}"), "value": 1, "source": source}));
        }
        let listed = |source: &str, field: &str| {
            agent.listed("preference_list", json!({"source": source, "limit": 200}), field)
        };
        for (source, expected) in [("imported", [true, false]), ("inferred", [false, true])] {
            let keys = listed(source, "key");
            let found = ["s0_110 imported", "s0_110 inferred"].map(|key| keys.contains(&json!(key)));
            assert_eq!(found, expected, "{keys:?}");
            let sources = listed(source, "source");
            assert!(sources.iter().all(|found| found == source), "{sources:?}");
        }
    };
    s0_113_preference_forget: |agent| {
        agent.data("preference_set", json!({"key": "s0_113", "value": 1}));
        agent.data("preference_forget", json!({"key": "s0_113"}));
        for tool in ["preference_get", "preference_forget"] {
            assert_eq!(agent.refused(tool, json!({"key": "s0_113"})), ("not_found".into(), 404), "{tool}");
        }
        assert_eq!(agent.data("preference_set", json!({"key": "s0_113", "value": 1}))["revision"], 1);
    };
}
