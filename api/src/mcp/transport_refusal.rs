//! Refusals of requests before a message is read: all of them in the form of JSON-RPC.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Gives a refusal of the SDK, whose body is plain text, the form of JSON-RPC. Other responses stay as they are.
pub(super) async fn in_json_rpc(response: Response<BoxBody<Bytes, std::convert::Infallible>>) -> Response {
    let (mut parts, body) = response.into_parts();
    if !parts.status.is_client_error() || is_of_protocol(&parts.headers) {
        return Response::from_parts(parts, Body::new(body));
    }
    let text = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message = String::from_utf8_lossy(&text);
    let refusal = json_rpc_error(ErrorCode::INVALID_REQUEST, without_status(&message, parts.status));
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    Response::from_parts(parts, Body::from(refusal.to_string()))
}

/// Refuses JSON that the protocol cannot read: a batch, or what is no message.
pub(super) fn unreadable(is_batch: bool) -> Response {
    let message = match is_batch {
        true => "Batches are not supported: send each message alone.",
        false => "The body is not a JSON-RPC 2.0 message of the protocol.",
    };
    let mut response = Response::new(Body::from(json_rpc_error(ErrorCode::INVALID_REQUEST, message).to_string()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Whether a response has a form of the protocol.
fn is_of_protocol(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    kind.starts_with(JSON.as_bytes()) || kind.starts_with(EVENTS.as_bytes())
}

/// The text without the name of the status, which the response has already.
fn without_status(text: &str, status: StatusCode) -> &str {
    let reason = status.canonical_reason().unwrap_or_default();
    text.strip_prefix(reason).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(text)
}

fn json_rpc_error(code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code.0, "message": message}})
}
