//! `GET /v1/openapi.json`: the API's description of itself.

use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::openapi::{Operation, Tag, openapi_document};

/// The document is the same for everybody, and making it costs some milliseconds.
static DOCUMENT: OnceLock<Bytes> = OnceLock::new();

pub(crate) fn operation() -> Operation {
    Operation::new("get-openapi-document", Tag::Service, "This document")
        .says("An OpenAPI 3.1 document of the whole API, the same for everybody. `/docs` shows it to people.")
        .answers_bytes(200, "The document.", &["application/json"])
}

pub(crate) async fn handle() -> impl IntoResponse {
    let bytes = DOCUMENT.get_or_init(|| openapi_document().to_string().into());
    ([(CONTENT_TYPE, "application/json")], bytes.clone())
}
