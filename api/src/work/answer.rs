//! A successful answer, rendered once.

use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::Error;

/// Status and JSON body.
pub(crate) struct Answer {
    status: StatusCode,
    pub(super) body: String,
}

impl Answer {
    pub(crate) fn ok(body: &impl Serialize) -> Result<Self, Error> {
        Self::new(StatusCode::OK, body)
    }

    pub(crate) fn created(body: &impl Serialize) -> Result<Self, Error> {
        Self::new(StatusCode::CREATED, body)
    }

    fn new(status: StatusCode, body: &impl Serialize) -> Result<Self, Error> {
        let body = serde_json::to_string(body);
        let body =
            body.map_err(|error| Error::Internal { detail: format!("an answer cannot be rendered: {error}") })?;
        Ok(Self { status, body })
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let content_type = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
        (self.status, [content_type], self.body).into_response()
    }
}
