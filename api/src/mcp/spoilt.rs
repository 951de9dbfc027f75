//! Messages that are no messages: their errors in the form of JSON-RPC.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

/// Refuses a body that the protocol cannot read: no JSON, a batch, or JSON that is no message.
pub(super) fn refused(body: &[u8]) -> Response {
    let (code, message) = match serde_json::from_slice::<Value>(body) {
        Err(error) => (ErrorCode::PARSE_ERROR, format!("The body is not JSON: {error}")),
        Ok(Value::Array(_)) => {
            (ErrorCode::INVALID_REQUEST, "Batches are not supported: send each message alone.".into())
        }
        Ok(_) => (ErrorCode::INVALID_REQUEST, "The body is not a JSON-RPC 2.0 message of the protocol.".into()),
    };
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code.0, "message": message}});
    let mut response = (StatusCode::BAD_REQUEST, error.to_string()).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
