//! Error responses: by status, with the stable codes that an operation can return.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::error_codes::{STORE_CODES, StatusAndCodes};
use super::headers::build_headers;
use super::operation_doc::OtherError;
use super::{OperationDoc, RouteDoc};

/// The errors of an operation: its own, and those that all operations of its kind share.
pub(super) fn collect_errors(route: &RouteDoc, operation: &OperationDoc) -> BTreeMap<u16, BTreeSet<&'static str>> {
    let mut errors: BTreeMap<u16, BTreeSet<_>> = BTreeMap::new();
    let others = operation.other_errors.iter().flat_map(|(_, statuses)| statuses.iter());
    let others = others.map(|status| (*status, [].as_slice()));
    for (status, codes) in operation.errors.iter().copied().chain(collect_shared_errors(route, operation)).chain(others)
    {
        errors.entry(status).or_default().extend(codes);
    }
    errors
}

pub(super) const COMMON_ERRORS: [StatusAndCodes; 6] = [
    (408, &["headers_too_slow"]),
    (414, &["uri_too_long"]),
    (431, &["headers_too_large"]),
    (500, &["internal"]),
    (503, &["too_many_connections"]),
    (400, &["malformed_http"]),
];

pub(super) const GUARD_ERRORS: [StatusAndCodes; 6] = [
    (401, &["unauthenticated"]),
    (403, &["permission_missing"]),
    (404, &["not_found"]),
    (422, &["request_invalid"]),
    (429, &["rate_limited", "too_many_requests"]),
    (503, STORE_CODES),
];

pub(super) const BODY_ERRORS: [StatusAndCodes; 5] = [
    (400, &["body_cut_off"]),
    (408, &["body_too_slow"]),
    (413, &["body_too_large"]),
    (429, &["too_many_body_bytes"]),
    (503, &["overloaded"]),
];

/// Responses that most operations share: component name, status and codes.
const COMPONENTS: [(&str, u16, &[&[&str]]); 13] = [
    ("Malformed", 400, &[COMMON_ERRORS[5].1]),
    ("CutOff", 400, &[COMMON_ERRORS[5].1, BODY_ERRORS[0].1]),
    ("Unauthenticated", 401, &[GUARD_ERRORS[0].1]),
    ("Forbidden", 403, &[GUARD_ERRORS[1].1]),
    ("NotFound", 404, &[GUARD_ERRORS[2].1]),
    ("TooSlow", 408, &[COMMON_ERRORS[0].1]),
    ("BodyTooSlow", 408, &[COMMON_ERRORS[0].1, BODY_ERRORS[1].1]),
    ("BodyTooLarge", 413, &[BODY_ERRORS[2].1]),
    ("UriTooLong", 414, &[COMMON_ERRORS[1].1]),
    ("Invalid", 422, &[GUARD_ERRORS[3].1]),
    ("HeadersTooLarge", 431, &[COMMON_ERRORS[2].1]),
    ("Fault", 500, &[COMMON_ERRORS[3].1]),
    ("Unavailable", 503, &[COMMON_ERRORS[4].1, STORE_CODES]),
];

fn collect_shared_errors(route: &RouteDoc, operation: &OperationDoc) -> Vec<StatusAndCodes> {
    let mut shared = COMMON_ERRORS.to_vec();
    if route.permission.is_some() {
        shared.extend(GUARD_ERRORS);
    } else if !route.path.starts_with("/health/") {
        shared.push((429, &["too_many_requests"]));
    }
    if route.inputs.body.is_some() || operation.form.is_some() {
        shared.extend(BODY_ERRORS);
    }
    shared
}

/// The components that [`render_response`] refers to.
pub(super) fn build_components() -> Map<String, Value> {
    let component = |(name, status, codes): (&str, u16, &[&[&'static str]])| {
        (name.to_owned(), build_response(status, &codes.concat().into_iter().collect()))
    };
    COMPONENTS.into_iter().map(component).collect()
}

/// The error response of an operation: a reference, when a component has the same status and codes.
pub(super) fn render_response(status: u16, codes: &BTreeSet<&'static str>) -> Value {
    let mut components = COMPONENTS.into_iter();
    let same = components.find(|(_, its, same)| *its == status && *codes == same.concat().into_iter().collect());
    match same {
        Some((name, _, _)) => json!({"$ref": format!("#/components/responses/{name}")}),
        None => build_response(status, codes),
    }
}

/// The response of an operation whose body is an error of this API or of another form.
pub(super) fn build_either_form(status: u16, codes: &BTreeSet<&'static str>, other: OtherError) -> Value {
    let mut response = build_response(status, codes);
    let content = &mut response["content"];
    let other = match other {
        OtherError::JsonRpc => "JsonRpcError",
        OtherError::Schema(name) => name,
        OtherError::Page if codes.is_empty() => {
            *content = json!({"text/html": {}});
            return response;
        }
        OtherError::Page => {
            content["text/html"] = json!({});
            return response;
        }
        OtherError::Git => {
            content["text/plain"] = json!({});
            content["application/vnd.git-lfs+json"] = json!({});
            return response;
        }
    };
    let schema = &mut content["application/json"]["schema"];
    *schema = json!({"anyOf": [schema.take(), {"$ref": format!("#/components/schemas/{other}")}]});
    response
}

/// The schema of an error of JSON-RPC.
pub(super) fn build_json_rpc_error() -> Value {
    json!({
        "type": "object",
        "description": "An error of JSON-RPC 2.0.",
        "required": ["jsonrpc", "error"],
        "properties": {
            "jsonrpc": {"type": "string", "const": "2.0"},
            "id": {"type": ["string", "integer", "null"]},
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
            },
        },
    })
}

/// An error response; `x-error-codes` lists the codes for programs.
pub(super) fn build_response(status: u16, codes: &BTreeSet<&str>) -> Value {
    let schema = if status == 422 { "InvalidRequest" } else { "Refusal" };
    let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
    json!({
        "description": describe_status(status, codes),
        "headers": build_headers(list_extra_headers(status)),
        "content": {"application/json": {"schema": schema}},
        "x-error-codes": codes,
    })
}

const fn list_extra_headers(status: u16) -> &'static [&'static str] {
    match status {
        401 => &["www-authenticate"],
        415 => &["accept-encoding"],
        429 | 503 => &["retry-after"],
        _ => &[],
    }
}

fn describe_status(status: u16, codes: &BTreeSet<&str>) -> String {
    let meaning = explain_status(status);
    if codes.is_empty() {
        return meaning.to_owned();
    }
    let links: Vec<String> = codes.iter().map(|code| format!("[`{code}`](/docs/errors#{code})")).collect();
    format!("{meaning} Codes: {}.", links.join(", "))
}

const fn explain_status(status: u16) -> &'static str {
    match status {
        400 => "The request is well formed, but cannot succeed in the current state.",
        401 => "Credentials are missing, expired or wrong.",
        403 => "The caller lacks the permission.",
        404 => "The resource does not exist, or this caller cannot see it.",
        405 => "The resource has no such method.",
        406 => "The client does not accept the form of the response.",
        408 => "The client sent too slowly.",
        409 => "The request conflicts with an existing resource or with a running operation.",
        413 => "The body is too large.",
        415 => "The encoding of the body is not supported.",
        422 => "The form of the request is invalid; `detail` lists every problem with its location.",
        414 => "Path and query are too long.",
        429 => "The caller or the organisation reached a limit; `retry-after` says when to try again.",
        431 => "Too many headers, or too large ones.",
        500 => "The server failed; its log has the cause under the request id.",
        504 => "The run took too long.",
        503 => "The server cannot handle the request now; `retry-after` says when to try again.",
        _ => "The request was refused.",
    }
}

/// The schema of a 422 response.
pub(super) fn build_invalid_request(problem: &Value) -> Value {
    json!({
        "type": "object",
        "description": "The response to a request whose form is invalid.",
        "required": ["detail", "code"],
        "properties": {
            "detail": {"type": "array", "minItems": 1, "items": problem},
            "code": {"type": "string", "const": "request_invalid"},
        },
    })
}
