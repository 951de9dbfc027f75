//! Errors of OAuth: their codes are those of RFC 6749, RFC 7009, RFC 7591 and RFC 8707.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// An error with a code for clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "OauthError")]
pub struct OauthError {
    /// A code of OAuth.
    pub error: &'static str,
    /// A message for people. It may change.
    pub error_description: String,
}

impl OauthError {
    pub fn new(error: &'static str, description: impl Into<String>) -> Self {
        Self { error, error_description: description.into() }
    }

    pub fn invalid_request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    /// The error of a code or a refresh token, whatever is wrong about it.
    pub fn invalid_grant() -> Self {
        Self::new("invalid_grant", "the code or the token is expired, used, revoked, or was issued on other terms")
    }
}

impl IntoResponse for OauthError {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, Json(self)).into_response()
    }
}
