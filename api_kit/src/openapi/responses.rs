//! The responses of an operation: its successes and its errors.

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::components::move_titled;
use super::headers::build_headers;
use super::operation_doc::{Content, Link, Success};
use super::{OperationDoc, RouteDoc, errors, tool_errors};

/// `responses` of an operation, by status.
pub(super) fn build_responses(route: &RouteDoc, operation: &OperationDoc, generator: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    for success in &operation.successes {
        responses.insert(success.status.to_string(), render_success(success, &operation.links, generator));
    }
    if route.inputs.streams {
        add_stream(&mut responses);
    }
    if operation.has_envelopes {
        responses.extend(tool_errors::build_references());
        return Value::Object(responses);
    }
    for (status, codes) in errors::collect_errors(route, operation) {
        let other = operation.other_errors.iter().find(|(_, statuses)| statuses.contains(&status));
        let rendered = match other {
            Some((other, _)) => errors::build_either_form(status, &codes, *other),
            None => errors::render_response(status, &codes),
        };
        responses.insert(status.to_string(), rendered);
    }
    Value::Object(responses)
}

fn render_success(success: &Success, links: &[Link], generator: &mut SchemaGenerator) -> Value {
    let deferred: &[&str] = if success.status == 202 { &["location", "preference-applied"] } else { &[] };
    let mut response = json!({"description": success.description, "headers": build_headers(deferred)});
    match &success.content {
        Content::Nothing => {}
        Content::Json { schema, example } => {
            let schema = schema(generator);
            response["content"] = json!({"application/json": {"schema": schema, "example": example}});
        }
        Content::Described { schema } => {
            let mut schema = schema.clone();
            move_titled(&mut schema, generator.definitions_mut());
            response["content"] = json!({"application/json": {"schema": schema}});
        }
        Content::Bytes { media_types } => {
            let content = media_types.iter().map(|media_type| ((*media_type).to_owned(), json!({})));
            response["content"] = Value::Object(content.collect());
        }
    }
    let links: Map<_, _> = links.iter().filter(|link| success.has(link.pointer)).map(build_link).collect();
    if !links.is_empty() {
        response["links"] = Value::Object(links);
    }
    response
}

impl Success {
    /// Whether the example has a value at a pointer.
    fn has(&self, pointer: &str) -> bool {
        matches!(&self.content, Content::Json { example, .. } if example.pointer(pointer).is_some())
    }
}

fn build_link(link: &Link) -> (String, Value) {
    let Link { operation, parameter, pointer } = link;
    let expression = format!("$response.body#{pointer}");
    (format!("{operation}-{parameter}"), json!({"operationId": operation, "parameters": {*parameter: expression}}))
}

/// The stream begins before its outcome is known, so that its status is always 200.
fn add_stream(responses: &mut Map<String, Value>) {
    let response = responses.entry("200").or_insert_with(
        || json!({"description": "A stream of events, for `Accept: text/event-stream`.", "headers": build_headers(&[])}),
    );
    response["content"]["text/event-stream"] = json!({"schema": {
        "type": "string",
        "description": "For `Accept: text/event-stream`. A build sends `step` and `log` events, a run sends `status` \
            events. Then comes `result` with the body of the plain response, or `error` with the error and its \
            `status`. The last event is `done`. A comment every ten seconds keeps the connection alive.",
    }});
}
