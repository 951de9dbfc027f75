//! Refusals: by status, with the stable codes that an operation can give.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Inputs;
use super::operation::Operation;
use super::responses::headers;
use crate::router::Route;

/// The refusals of an operation: its own, and those that it shares with every operation of its kind.
pub(super) fn of(route: &Route, operation: &Operation) -> BTreeMap<u16, BTreeSet<&'static str>> {
    let mut refusals: BTreeMap<u16, BTreeSet<_>> = BTreeMap::new();
    for (status, codes) in operation.refusals.iter().copied().chain(shared(route, &route.inputs)) {
        refusals.entry(status).or_default().extend(codes);
    }
    refusals
}

type Refusal = (u16, &'static [&'static str]);

/// What the store of a server can give beside what was asked of it.
pub(crate) const STORE_CODES: &[&str] = &["shutting_down", "storage_failing", "database_busy", "store_closed"];

/// What a build is refused with for now.
pub(crate) const OF_BUILDS: &[&str] = &["overloaded", "no_build_worker", "build_worker_lost"];

/// What a branch is refused with that is to be built and run.
pub(super) const OF_A_BRANCH: [Refusal; 3] = [
    (
        400,
        &[
            "build_failed",
            "input_schema",
            "unknown_branch",
            "unknown_commit",
            "missing_project_directory",
            "refused_tree",
            "component_rejected",
            "variable_missing",
        ],
    ),
    (429, &["too_many_runs", "too_many_builds"]),
    (503, OF_BUILDS),
];

const OF_ALL: [Refusal; 6] = [
    (408, &["headers_too_slow"]),
    (414, &["uri_too_long"]),
    (431, &["headers_too_large"]),
    (500, &["internal"]),
    (503, &["too_many_connections"]),
    (400, &["malformed_http"]),
];

const OF_THE_DOOR: [Refusal; 6] = [
    (401, &["unauthenticated"]),
    (403, &["permission_missing"]),
    (404, &["not_found"]),
    (422, &["request_invalid"]),
    (429, &["rate_limited"]),
    (503, STORE_CODES),
];

const OF_A_BODY: [Refusal; 3] = [(400, &["body_cut_off"]), (408, &["body_too_slow"]), (413, &["body_too_large"])];

/// Refusals that most operations share, by the name of the component.
const COMPONENTS: [(&str, u16, &[&[&str]]); 13] = [
    ("Malformed", 400, &[OF_ALL[5].1]),
    ("CutOff", 400, &[OF_ALL[5].1, OF_A_BODY[0].1]),
    ("Unauthenticated", 401, &[OF_THE_DOOR[0].1]),
    ("Forbidden", 403, &[OF_THE_DOOR[1].1]),
    ("NotFound", 404, &[OF_THE_DOOR[2].1]),
    ("TooSlow", 408, &[OF_ALL[0].1]),
    ("BodyTooSlow", 408, &[OF_ALL[0].1, OF_A_BODY[1].1]),
    ("BodyTooLarge", 413, &[OF_A_BODY[2].1]),
    ("UriTooLong", 414, &[OF_ALL[1].1]),
    ("Invalid", 422, &[OF_THE_DOOR[3].1]),
    ("HeadersTooLarge", 431, &[OF_ALL[2].1]),
    ("Fault", 500, &[OF_ALL[3].1]),
    ("Unavailable", 503, &[OF_ALL[4].1, STORE_CODES]),
];

fn shared(route: &Route, inputs: &Inputs) -> Vec<Refusal> {
    let mut shared = OF_ALL.to_vec();
    if route.permission.is_some() {
        shared.extend(OF_THE_DOOR);
    }
    if inputs.body.is_some() {
        shared.extend(OF_A_BODY);
    }
    shared
}

/// What [`rendered`] refers to.
pub(super) fn components() -> Value {
    let component = |(name, status, codes): (&str, u16, &[&[&'static str]])| {
        (name.to_owned(), response(status, &codes.concat().into_iter().collect()))
    };
    Value::Object(COMPONENTS.into_iter().map(component).collect())
}

/// A refusal in an operation: what is shared stands once among the components.
pub(super) fn rendered(status: u16, codes: &BTreeSet<&'static str>) -> Value {
    let mut components = COMPONENTS.into_iter();
    let same = components.find(|(_, its, same)| *its == status && *codes == same.concat().into_iter().collect());
    match same {
        Some((name, _, _)) => json!({"$ref": format!("#/components/responses/{name}")}),
        None => response(status, codes),
    }
}

/// `x-error-codes` lists the codes for programs.
fn response(status: u16, codes: &BTreeSet<&str>) -> Value {
    let schema = if status == 422 { "InvalidRequest" } else { "Refusal" };
    let schema = json!({"$ref": format!("#/components/schemas/{schema}")});
    json!({
        "description": words(status, codes),
        "headers": headers(extra_headers(status)),
        "content": {"application/json": {"schema": schema}},
        "x-error-codes": codes,
    })
}

const fn extra_headers(status: u16) -> &'static [&'static str] {
    match status {
        401 => &["www-authenticate"],
        429 | 503 => &["retry-after"],
        _ => &[],
    }
}

fn words(status: u16, codes: &BTreeSet<&str>) -> String {
    let meaning = meaning(status);
    let links: Vec<String> = codes.iter().map(|code| format!("[`{code}`](/docs/errors#{code})")).collect();
    format!("{meaning} Codes: {}.", links.join(", "))
}

const fn meaning(status: u16) -> &'static str {
    match status {
        400 => "Understood, and it cannot succeed as things are.",
        401 => "Credentials are missing, expired or wrong.",
        403 => "Signed in, without the right.",
        404 => "It does not exist, or not for this caller.",
        408 => "The client sent too slowly.",
        409 => "Another thing or a running operation is in the way.",
        413 => "The body is too large.",
        422 => "The form of the request is wrong; `detail` lists every problem with its place.",
        414 => "Path and query are too long.",
        429 => "The caller, or the organisation, has had its share for now.",
        431 => "Too many headers, or too large ones.",
        500 => "A fault of the server; its log has the cause under the request id.",
        503 => "Later may work.",
        _ => "Refused.",
    }
}

/// The schemas that [`response`] refers to and no struct gives.
pub(super) fn invalid_request(problem: &Value) -> Value {
    json!({
        "type": "object",
        "description": "A request that is wrong in form.",
        "required": ["detail", "code"],
        "properties": {
            "detail": {"type": "array", "minItems": 1, "items": problem},
            "code": {"type": "string", "const": "request_invalid"},
        },
    })
}
