//! Refusals of requests before a message is read: all of them in the form of JSON-RPC.

use api_kit::error::Refusal;
use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use rmcp::model::ErrorCode;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub const JSON: &str = "application/json";
pub const EVENTS: &str = "text/event-stream";

/// Gives a refusal of the SDK, whose body is plain text, the form of JSON-RPC. Other responses stay as they are.
pub async fn convert_to_json_rpc(
    response: Response<BoxBody<Bytes, std::convert::Infallible>>,
    id: Option<&RawValue>,
) -> Response {
    let (mut parts, body) = response.into_parts();
    if !parts.status.is_client_error() || is_of_protocol(&parts.headers) {
        return Response::from_parts(parts, Body::new(body));
    }
    parts.headers.remove(CONTENT_LENGTH);
    let text = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message = String::from_utf8_lossy(&text);
    let mut refusal = build_json_rpc_error(ErrorCode::INVALID_REQUEST, strip_status(&message, parts.status));
    refusal["id"] = json!(id);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    Response::from_parts(parts, Body::from(refusal.to_string()))
}

/// Refuses JSON that the protocol cannot read: a batch, or what is no message.
pub fn refuse_unreadable(is_batch: bool, id: Option<&RawValue>) -> Response {
    let message = match is_batch {
        true => "Batches are not supported: send each message alone.",
        false => "The body is not a JSON-RPC 2.0 message of the protocol.",
    };
    build_refusal(StatusCode::BAD_REQUEST, message, id)
}

/// Refuses a request of a session that has ended, or is not of its user and agent.
pub fn refuse_unknown_session(id: Option<&RawValue>) -> Response {
    build_refusal(StatusCode::NOT_FOUND, "Session not found. Begin a new one with `initialize`.", id)
}

/// Refuses a compressed body, of which no message is read.
pub fn refuse_encoded_body() -> Response {
    let message = "The body has a Content-Encoding: send the message without compression.";
    let mut response = build_refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, message, None);
    response.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    response
}

fn build_refusal(status: StatusCode, message: &str, id: Option<&RawValue>) -> Response {
    let mut refusal = build_json_rpc_error(ErrorCode::INVALID_REQUEST, message);
    refusal["id"] = json!(id);
    let mut response = Response::new(Body::from(refusal.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Answers a request whose result has no members.
pub fn answer_empty_result(id: Option<&RawValue>) -> Response {
    let mut response = Response::new(Body::from(json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Gives an error of the API with the status 404 the form of JSON-RPC, which clients expect at the URL of an agent.
pub fn convert_not_found_to_json_rpc(mut response: Response) -> Response {
    let Some(refusal) = response.extensions().get::<Refusal>() else { return response };
    let mut error = build_json_rpc_error(ErrorCode::INVALID_REQUEST, refusal.detail.as_str().unwrap_or_default());
    error["error"]["data"] = json!({"type": refusal.code});
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    *response.body_mut() = Body::from(error.to_string());
    response
}

/// Whether a response has a form of the protocol.
fn is_of_protocol(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    kind.starts_with(JSON.as_bytes()) || kind.starts_with(EVENTS.as_bytes())
}

/// The text without the name of the status, which the response has already.
fn strip_status(text: &str, status: StatusCode) -> &str {
    let reason = status.canonical_reason().unwrap_or_default();
    text.strip_prefix(reason).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(text)
}

pub fn build_json_rpc_error(code: ErrorCode, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": code.0, "message": message}})
}
