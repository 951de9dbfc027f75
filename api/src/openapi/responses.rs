//! The responses of an operation: its successes, and the refusals of its kind.

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::operation::{Answer, Content, Link, Operation};
use super::refusals;
use crate::router::Route;

/// `responses` of an operation, by status.
pub(super) fn responses(route: &Route, operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    for answer in &operation.answers {
        responses.insert(answer.status.to_string(), success(answer, &operation.links, generator));
    }
    if route.inputs.streams {
        add_stream(&mut responses);
    }
    for (status, codes) in refusals::of(route, operation) {
        responses.insert(status.to_string(), refusals::rendered(status, &codes));
    }
    Value::Object(responses)
}

fn success(answer: &Answer, links: &[Link], generator: &mut SchemaGenerator) -> Value {
    let later: &[&str] = if answer.status == 202 { &["location", "preference-applied"] } else { &[] };
    let mut response = json!({"description": answer.says, "headers": headers(later)});
    match &answer.content {
        Content::Nothing => {}
        Content::Json { schema, example } => {
            let schema = schema(generator);
            response["content"] = json!({"application/json": {"schema": schema, "example": example}});
        }
        Content::Bytes { media_types } => {
            let content = media_types.iter().map(|media_type| ((*media_type).to_owned(), json!({})));
            response["content"] = Value::Object(content.collect());
        }
    }
    let links: Map<_, _> = links.iter().filter(|link| answer.has(link.pointer)).map(link).collect();
    if !links.is_empty() {
        response["links"] = Value::Object(links);
    }
    response
}

impl Answer {
    /// Whether there is something behind a pointer into the body.
    fn has(&self, pointer: &str) -> bool {
        matches!(&self.content, Content::Json { example, .. } if example.pointer(pointer).is_some())
    }
}

fn link(link: &Link) -> (String, Value) {
    let Link { operation, parameter, pointer } = link;
    let expression = format!("$response.body#{pointer}");
    (format!("{operation}-{parameter}"), json!({"operationId": operation, "parameters": {*parameter: expression}}))
}

/// The stream begins before its outcome is known, so that its status is always 200.
fn add_stream(responses: &mut Map<String, Value>) {
    let response = responses.entry("200").or_insert_with(
        || json!({"description": "A stream of events, for `Accept: text/event-stream`.", "headers": headers(&[])}),
    );
    response["content"]["text/event-stream"] = json!({"schema": {
        "type": "string",
        "description": "For `Accept: text/event-stream`. On the way come `step` and `log` from a build and `status` \
            from a run; then `result` with the body of the plain answer, or `error` with a refusal and its `status`; \
            `done` at the end. A comment every ten seconds keeps the connection alive.",
    }});
}

/// Headers of a response: those that all have, and `names` from the components.
pub(super) fn headers(names: &[&str]) -> Value {
    let names = ["x-request-id"].iter().chain(names);
    let header = |name: &&str| ((*name).to_owned(), json!({"$ref": format!("#/components/headers/{name}")}));
    Value::Object(names.map(header).collect())
}

/// What [`headers`] refers to.
pub(super) fn header_components() -> Value {
    json!({
        "x-request-id": {
            "description": "Names the request in the server's log.", "required": true, "schema": {"type": "string"},
        },
        "www-authenticate": {
            "description": "`Basic` first, since git asks for credentials only then; in a second line `Bearer`.",
            "required": true, "schema": {"type": "string"},
        },
        "location": {
            "description": "Where to ask how it went.", "required": true,
            "schema": {"type": "string", "format": "uri-reference"},
        },
        "preference-applied": {
            "description": "`respond-async`.", "required": true, "schema": {"type": "string"},
        },
        "retry-after": {
            "description": "Seconds until it may work.", "required": true, "schema": {"type": "integer", "minimum": 1},
        },
    })
}
