//! Responses of tools: an object that tells success from failure.

use agents::library_failure;
use api_kit::error::{Fault, Refusal};
use api_kit::request_id::RequestId;
use axum::Json;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Seconds after which a client may try again what the server cannot do now.
const RETRY_AFTER_SECONDS: u64 = 1;

/// The middleware of these routes: gives errors of the API the form of the tools' failures.
pub(crate) async fn add_envelope(request: Request, next: Next) -> Response {
    let id = request.extensions().get::<RequestId>().cloned();
    let mut response = next.run(request).await;
    if let Some(fault) = response.extensions_mut().remove::<Fault>() {
        response = fault.log(id.as_ref().map_or("", RequestId::as_str)).into_response();
    }
    match response.extensions_mut().remove::<Refusal>() {
        Some(refusal) => wrap_refusal(response, &refusal),
        None => response,
    }
}

/// Returns the output of a tool that succeeded, which is the object already.
pub(super) fn respond_with_success(status: StatusCode, output: String) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], output).into_response()
}

/// Returns a failure with its status.
pub(super) fn respond_with_failure(failure: Value) -> Response {
    let status = failure["error"]["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status.and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(failure)).into_response();
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
    }
    response
}

/// Replaces the body. An invalid form is an invalid argument, so that it has the status of one.
fn wrap_refusal(mut response: Response, refusal: &Refusal) -> Response {
    if response.status() == StatusCode::UNPROCESSABLE_ENTITY {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    let (message, details) = read_texts(&refusal.detail);
    let mut failure = library_failure(refusal.code, &message, details);
    failure["error"]["status"] = json!(response.status().as_u16());
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(failure.to_string());
    response
}

/// The message of an error, with the fields of an invalid form.
fn read_texts(detail: &Value) -> (String, Option<Value>) {
    let Some(problems) = detail.as_array() else {
        return (detail.as_str().unwrap_or_default().to_owned(), None);
    };
    let fields: Vec<_> = problems.iter().map(|problem| (build_pointer(&problem["loc"]), &problem["msg"])).collect();
    let message = fields.iter().map(|(field, text)| format!("{field}: {}", text.as_str().unwrap_or_default()));
    let details = fields.iter().map(|(field, text)| json!({"field": field, "message": text}));
    (message.collect::<Vec<_>>().join("; "), Some(details.collect()))
}

/// The place of a problem, such as `/body/memory_id`.
fn build_pointer(location: &Value) -> String {
    let steps = location.as_array().into_iter().flatten();
    steps.map(|step| format!("/{}", step.as_str().map_or_else(|| step.to_string(), str::to_owned))).collect()
}
