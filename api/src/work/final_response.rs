//! The final response of work, rendered once: a plain response, a stream and an operation have the same bytes.

use api_kit::error::{Error, Fault};
use api_kit::request_id::RequestId;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use registry::Refused;
use serde::Serialize;
use serde_json::value::RawValue;

/// The status and the JSON body of a response.
#[derive(Clone, Debug)]
pub(crate) struct FinalResponse {
    pub(super) status: StatusCode,
    pub(super) body: String,
    retry_after_seconds: Option<u64>,
}

impl FinalResponse {
    pub(crate) fn ok(body: &impl Serialize) -> Result<Self, Error> {
        Self::new(StatusCode::OK, body)
    }

    pub(crate) fn created(body: &impl Serialize) -> Result<Self, Error> {
        Self::new(StatusCode::CREATED, body)
    }

    fn new(status: StatusCode, body: &impl Serialize) -> Result<Self, Error> {
        let body = serde_json::to_string(body);
        let body =
            body.map_err(|error| Error::Internal { detail: format!("a response cannot be rendered: {error}") })?;
        Ok(Self { status, body, retry_after_seconds: None })
    }

    /// The response to an outcome; a fault is logged under the request.
    pub(super) fn of(outcome: Result<Self, Error>, request: &RequestId) -> Self {
        let error = match outcome {
            Ok(answer) => return answer,
            Err(error) => error,
        };
        let refusal = error.into_refusal().unwrap_or_else(|fault: Fault| fault.log(request.as_str()));
        let retry_after_seconds = refusal.retry_after_seconds();
        // A refusal has texts and ids alone, which can always be serialised.
        let body = serde_json::to_string(&refusal).unwrap_or_default();
        Self { status: refusal.status, body, retry_after_seconds }
    }

    /// A stored response.
    pub(super) fn from_stored(refused: Refused) -> Self {
        let status = StatusCode::from_u16(refused.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, body: refused.body, retry_after_seconds: None }
    }

    /// The part to store. A success needs none, since its results are stored.
    pub(super) fn find_refusal(&self) -> Option<Refused> {
        let refused = || Refused { status: self.status.as_u16(), body: self.body.clone() };
        (!self.status.is_success()).then(refused)
    }

    /// The body, for use in another document.
    pub(super) fn into_document(self) -> Result<Box<RawValue>, Error> {
        let document = RawValue::from_string(self.body);
        document.map_err(|error| Error::Internal { detail: format!("a response is not JSON: {error}") })
    }
}

impl IntoResponse for FinalResponse {
    fn into_response(self) -> Response {
        let content_type = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut response = (self.status, [content_type], self.body).into_response();
        if let Some(seconds) = self.retry_after_seconds {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
