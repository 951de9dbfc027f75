//! The form of results, and the record of calls.

use serde_json::json;

use super::agent::rows;

rows! {
    s0_114_the_result_is_a_json_string: |agent| {
        let result = agent.0.call("preference_list", json!({}));
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(serde_json::from_str::<serde_json::Value>(text).expect("JSON").is_object());
    };
    s0_115_success: |agent| {
        let (envelope, _) = agent.envelope("preference_list", json!({}));
        let keys: Vec<_> = envelope.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!((keys, &envelope["success"]), (vec!["data", "success"], &json!(true)));
    };
    s0_116_to_119_failure: |agent| {
        let (envelope, _) = agent.envelope("memory_get", json!({"memory_id": "nothing"}));
        let expected = json!({"success": false, "error": {"code": "not_found", "status": 404, "message": "memory not found"}});
        assert_eq!(envelope, expected);
    };
    s0_120_details: |agent| {
        let error = agent.error("memory_create", json!({"content": 1}));
        assert_eq!(error["details"][0]["field"], "/content", "{error}");
        assert!(error["message"].as_str().expect("a text").contains("/content"), "{error}");
    };
    a_filter_takes_the_values_of_its_field_only: |agent| {
        for (tool, filter) in [
            ("task_list", "status"), ("rule_list", "category"), ("prompt_list", "type"), ("preference_list", "source"),
        ] {
            let error = agent.error(tool, json!({filter: "misspelt"}));
            assert_eq!((&error["code"], &error["status"]), (&json!("input_schema"), &json!(400)), "{tool}: {error}");
            assert_eq!(error["details"][0]["field"], format!("/{filter}"), "{error}");
            agent.data(tool, json!({filter: null}));
        }
        agent.data("memory_list", json!({"kind": "any text"}));
    };
    s0_122_calls_go_on_after_a_failure: |agent| {
        agent.error("memory_create", json!({}));
        agent.data("memory_create", json!({"content": "after a failure"}));
    };
    a_call_is_recorded_with_its_agent: |agent| {
        let (_, result) = agent.envelope("memory_create", json!({"content": "recorded"}));
        let run = result["_meta"]["dev.lathe/invocationId"].as_str().expect("an id").to_owned();
        let record = agent.0.team.get(&format!("/tool/invocation/{run}"));
        assert_eq!((&record["native_tool"], &record["origin"]), (&json!("memory_create"), &json!("mcp")));
        let memory = agent.data("memory_list", json!({"limit": 200}));
        let items = memory["items"].as_array().expect("items");
        let item = items.iter().find(|item| item["provenance"]["invocation_id"] == run.as_str()).expect("the memory");
        assert_eq!(item["provenance"]["agent_id"], agent.0.id.as_str());
        assert_eq!(item["provenance"]["trusted"], json!(false), "a model wrote it");
    };
}
