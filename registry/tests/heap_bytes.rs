//! Compares the estimates of bytes on the heap with those that the allocator gave out. A program of its own, since it counts all
//! allocations of the process.

#[path = "../../tests/harness/counting_allocator.rs"]
mod counting_allocator;
#[path = "../../tests/harness/estimated_bytes.rs"]
mod estimated_bytes;

use proptest::prelude::*;
use registry::{Constraint, Grants, VersionSettings};
use serde_json::{Value, json};

use estimated_bytes::check;

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 200, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
            proptest::collection::btree_map(".{0,10}", inner, 0..20)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_bytes_of_any_json_are_estimated(value in any_json()) {
        let text = value.to_string();
        check(&text, || serde_json::from_str::<Value>(&text).unwrap());
    }
}

#[test]
fn the_bytes_of_json_with_many_small_maps_and_lists_are_estimated() {
    for (what, part) in [("maps", r#"{"":0}"#), ("empty maps", "{}"), ("lists", "[[]]"), ("texts", r#""""#)] {
        let text = format!("[{}]", vec![part; 10_000].join(","));
        check(what, || serde_json::from_str::<Value>(&text).unwrap());
    }
    let members: Vec<_> = (0..5_000).map(|number| format!(r#""{number:05}":{number}"#)).collect();
    let text = format!("{{{}}}", members.join(","));
    check("one large map", || serde_json::from_str::<Value>(&text).unwrap());
}

#[test]
fn the_bytes_of_constraints_are_estimated() {
    let many = ">0.0.0.0.0.0.0,".repeat(15) + ">0";
    for text in ["1.2.3", ">=0,!=1.2.3", "===1.2.0", &many, "==1!2.0rc1.post3.dev4+local.1"] {
        check(text, || Constraint::parse(text).unwrap());
    }
}

#[test]
fn the_bytes_of_versions_are_estimated() {
    let schema = json!({"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}});
    let api = json!({"description": "Counts.", "input_schema": schema, "output_schema": schema});
    let settings = json!({
        "language": "python", "entry_point": "tool", "allowed_hosts": ["example.com", "*.example.org"], "timeout_ms": 1,
        "memory_bytes": 1, "output_schema": schema, "secret_hosts": {"KEY": ["example.com"]},
        "limits": {}, "tape": true, "recorded_answers": false,
        "world": {"name": "lathe:tool/tool@0.1.0", "imports": ["lathe:tool/http@0.1.0"], "exports": ["run-tool"]},
        "intervention_rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "always"}],
        "apis": {"count": api, "list": api, "remove": api}, "system_role": "x".repeat(4_000),
    });
    check("settings", || read::<VersionSettings>(&settings));
}

#[test]
fn the_bytes_of_grants_are_estimated() {
    let condition = json!({"key": "tool_name", "operator": "startsWith", "value": "search_in_the_knowledge_base"});
    let grant = json!({"permission": "Tool:InvokeTool", "conditions": vec![condition; 10]});
    let grants = json!(vec![grant; 8]);
    check("grants", || read::<Grants>(&grants));
}
