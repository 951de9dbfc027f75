//! Rules of strict clients beyond the schemas: the form of ids, times with an offset, and whole numbers without a
//! fraction.

use serde_json::Value;

/// Fields whose contents are chosen by authors or callers.
const FREE: [&str; 12] = [
    "inputs",
    "status_events",
    "input_schema",
    "output_schema",
    "inputSchema",
    "outputSchema",
    "parameters",
    "parametersJsonSchema",
    "nonsensitive_user_variables",
    "sensitive_user_variables",
    "settings",
    "data",
];

const IDS: [&str; 9] = [
    "id",
    "tool_id",
    "version_id",
    "invocation_id",
    "conversation_id",
    "interaction_id",
    "simulation_unit_test_set_run_id",
    "unit_test_id",
    "build_id",
];

const COUNTS: [&str; 5] = ["duration_ms", "lambda_version", "major", "minor", "patch"];

/// Fails the test when a document violates a rule.
pub fn check(document: &Value) {
    match document {
        Value::Array(items) => items.iter().for_each(check),
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| !FREE.contains(&name.as_str())) {
                assert!(field(name, value), "{name} is {value}");
                check(value);
            }
        }
        _ => {}
    }
}

fn field(name: &str, value: &Value) -> bool {
    let text = value.as_str();
    if IDS.contains(&name) {
        value.is_null() || text.is_some_and(is_id)
    } else if COUNTS.contains(&name) {
        value.is_u64()
    } else if name.ends_with("_at") && name != "refused_at" {
        // The schema decides whether a time may be null.
        value.is_null() || text.is_some_and(|text| text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok())
    } else if name == "continuation_token" {
        value.is_null() || value.is_u64()
    } else {
        name != "output" || value.is_string()
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
