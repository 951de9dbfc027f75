//! Error responses of the operations that call native tools. All of them have the same ones, in the form of a tool's failure.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::error_codes::StatusAndCodes;
use super::errors::{BODY_ERRORS, COMMON_ERRORS, GUARD_ERRORS, build_response};

/// Errors of the tools, and of the steps of their calls.
const TOOL_ERRORS: [StatusAndCodes; 6] = [
    (400, &["input_schema", "invalid_value", "output_too_large", "quota_exceeded", "too_many"]),
    (403, &["organization_differs"]),
    (409, &["conflict"]),
    (429, &["too_many_runs"]),
    (503, &["overloaded", "unavailable"]),
    (504, &["timeout_wall"]),
];

/// References to the error responses, by status.
pub(super) fn build_references() -> Map<String, Value> {
    let reference = |status: &u16| json!({"$ref": format!("#/components/responses/{}", name_component(*status))});
    collect_all().keys().map(|status| (status.to_string(), reference(status))).collect()
}

/// The components that [`build_references`] refers to.
pub(super) fn build_components() -> Map<String, Value> {
    collect_all().iter().map(|(status, codes)| (name_component(*status), build_envelope(*status, codes))).collect()
}

/// The schema of the failure of a tool.
pub(super) fn build_schema() -> Value {
    let details = "The fields of refused arguments, each with `field` and `message`.";
    let error = json!({
        "type": "object",
        "required": ["code", "status", "message"],
        "properties": {
            "code": {"type": "string", "description": "A stable name for programs."},
            "status": {"type": "integer", "description": "The status of the response."},
            "message": {"type": "string", "description": "A message for people. It may change."},
            "details": {"description": details},
        },
    });
    json!({
        "type": "object",
        "description": "The failure of a tool, or of a request to call it.",
        "required": ["success", "error"],
        "properties": {"success": {"const": false}, "error": error},
    })
}

fn name_component(status: u16) -> String {
    format!("ToolFailure{status}")
}

fn collect_all() -> BTreeMap<u16, BTreeSet<&'static str>> {
    let mut all: BTreeMap<u16, BTreeSet<_>> = BTreeMap::new();
    for (status, codes) in COMMON_ERRORS.into_iter().chain(GUARD_ERRORS).chain(BODY_ERRORS).chain(TOOL_ERRORS) {
        // An invalid form is an invalid argument.
        let status = if status == 422 { 400 } else { status };
        all.entry(status).or_default().extend(codes);
    }
    all
}

fn build_envelope(status: u16, codes: &BTreeSet<&'static str>) -> Value {
    let mut response = build_response(status, codes);
    response["content"]["application/json"]["schema"] = json!({"$ref": "#/components/schemas/ToolFailure"});
    response
}
