//! Values of the registry, with every field set, in JSON that has exactly the keys of their schemas.

use registry::{Clock, Timestamp};
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Checks that the registry reads a document and writes the same, and that it has all keys of a schema and no others.
#[track_caller]
fn check<Stored: Serialize + DeserializeOwned, Described: JsonSchema>(document: Value) {
    let stored: Stored = serde_json::from_value(document.clone()).expect("a value of the registry");
    assert_eq!(serde_json::to_value(stored).expect("JSON"), document);
    let mut schema = schema_for!(Described);
    RecursiveTransform(strict).transform(&mut schema);
    let validator = jsonschema::validator_for(schema.as_value()).expect("a schema");
    validator.validate(&document).unwrap_or_else(|error| panic!("{error} in {document}"));
}

/// Requires all properties and refuses others.
fn strict(schema: &mut Schema) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let names: Vec<String> = properties.keys().cloned().collect();
    schema.insert("required".to_owned(), names.into());
    schema.insert("additionalProperties".to_owned(), false.into());
}

#[test]
fn ids_versions_and_permissions() {
    let clock = Clock::fixed(Timestamp::from_milliseconds(1_795_341_084_941));
    check::<registry::ToolId, super::Id>(json!(registry::ToolId::new(&clock)));
    check::<registry::Version, super::Version>(json!(registry::Version::FIRST));
    registry::Permission::ALL.iter().for_each(|one| check::<registry::Permission, super::Permission>(json!(one)));
}

#[test]
fn sources_and_modes() {
    let machine = json!(["sales", 3]);
    let metadata = [
        json!({
            "type": "state-transition", "current_state_machine_and_version": machine, "state_name": "start",
            "state_transition_index": 0, "tool_call_round_index": 1,
        }),
        json!({"type": "engage-user", "current_state_machine_and_version": machine, "tool_call_round_index": 1}),
        json!({"type": "tool-call-state", "current_state_machine_and_version": machine, "state_name": "start"}),
    ];
    let of_conversation = |metadata| {
        let ids = ["conversation", "interaction"];
        json!({
            "type": "regular-conversation", "user_id": "ada", "conversation_id": ids[0], "interaction_id": ids[1],
            "invocation_metadata": metadata,
        })
    };
    let simulated = json!({
        "type": "simulation-conversation", "simulation_unit_test_set_run_id": "set", "unit_test_id": "test",
        "run_index": 2, "invocation_metadata": metadata[0],
    });
    for source in metadata.into_iter().map(of_conversation).chain([simulated]) {
        check::<registry::InvocationSource, super::InvocationSource>(source);
    }
    for origin in ["conversation", "direct", "branch-test", "mcp", "agent"] {
        check::<registry::Origin, super::Origin>(json!(origin));
    }
    registry::InvokeStep::ALL.iter().for_each(|step| check::<registry::InvokeStep, super::InvokeStep>(json!(step)));
    for mode in ["regular", "conversation-simulation"] {
        check::<registry::InvocationMode, super::InvocationMode>(json!(mode));
    }
}

#[test]
fn ledgers() {
    let request = json!({
        "method": "GET", "host": "api.example.com", "status": 200, "error": "denied", "is_refused": false,
        "answered_by": "network", "sent_bytes": 1, "received_bytes": 2, "duration_ms": 3, "secrets": ["KEY"],
    });
    let call = json!({
        "tool": "weather", "version": "1.0.0", "invocation_id": "6ab13d50a3c20f6f6e5d4c3b", "error": "ValueError",
        "is_refused": false, "duration_ms": 1,
        "total": {"runs": 1, "cpu_ms": 2, "http_requests": 3, "http_bytes": 4},
    });
    check::<registry::Ledger, super::Ledger>(json!({
        "granted": {
            "envvars": ["REGION"], "secrets": ["TOKEN"], "host_secrets": ["KEY"], "wall_ms": 1, "cpu_ms": 2,
            "memory_bytes": 3,
        },
        "used": {
            "envvars": ["REGION"], "secrets": ["TOKEN"], "clock_reads": 1, "random_bytes": 2, "status_events": 3,
            "log_bytes": 4, "output_bytes": 5, "http": [request], "calls": [call],
        },
        "refused": {"http_requests": 1, "status_events": 2, "calls": 3},
        "cost": {"cpu_ms": 1, "guest_us": 2, "host_us": 3, "waiting_us": 4, "memory_peak_bytes": 5},
    }));
}

#[test]
fn settings() {
    for language in ["python", "javascript", "rust"] {
        check::<registry::VersionSettings, super::VersionSettings>(json!({
            "language": language, "entry_point": "tool:run_tool", "allowed_hosts": ["api.example.com"],
            "output_schema": {"type": "object"}, "secret_hosts": {"KEY": ["api.example.com"]},
            "mocks_digest": format!("sha256:{}", "a".repeat(64)), "timeout_ms": 1, "memory_bytes": 2,
            "limits": {
                "cpu_ms": 1, "table_elements": 2, "handles": 3, "host_calls": 4, "output_characters": 5,
                "status_events": 6, "status_event_bytes": 7, "log_bytes": 8, "http_requests": 9, "http_parallel": 10,
                "http_request_bytes": 11, "http_response_bytes": 12, "http_bytes": 13,
            },
            "tape": true, "recorded_answers": true,
            "world": {"name": "lathe:tool/tool@0.1.0", "imports": ["lathe:tool/http@0.1.0"], "exports": ["run-tool"]},
            "annotations": {
                "title": "Cancel an order", "read_only": false, "destructive": true, "idempotent": true, "open_world": false,
            },
            "intervention": "required", "mcp": {"prompt": true, "resource": "test://{id}", "ask_first": true}, "tasks": "optional",
            "intervention_rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "always"}],
            "calls": {"weather": ">=1.2, <2"},
            "apis": {"create": {
                "description": "Creates an order.", "input_schema": {"type": "object"}, "output_schema": {"type": "object"},
                "annotations": {
                    "title": "Create", "read_only": false, "destructive": false, "idempotent": true, "open_world": false,
                },
                "intervention": "always",
            }},
            "system_role": "Use create for new orders.",
        }));
    }
}

#[test]
fn human_interventions() {
    for written in [
        json!("required"),
        json!({
            "policy": "never", "apis": {"create": "always"},
            "rules": [{"when": {"amount": {"minimum": 100}}, "intervention": "always"}],
        }),
    ] {
        check::<registry::HumanIntervention, super::HumanIntervention>(written);
    }
}

#[test]
fn content_blocks() {
    let blocks = [
        json!({"type": "text", "text": "a"}),
        json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
        json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
        json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "a"}}),
        json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "blob": "AA=="}}),
        json!({"type": "resource_link", "uri": "a:b", "name": "b", "description": "c", "mimeType": "text/plain"}),
    ];
    for block in blocks {
        let stored: registry::ContentBlock = serde_json::from_value(block.clone()).expect("a block");
        assert_eq!(serde_json::to_value(stored).expect("JSON"), block);
        let schema = schema_for!(super::ContentBlock);
        let validator = jsonschema::validator_for(schema.as_value()).expect("a schema");
        validator.validate(&block).unwrap_or_else(|error| panic!("{error} in {block}"));
    }
}
