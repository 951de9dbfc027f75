//! `GET /v1/openapi.json`: the OpenAPI document.

use std::sync::OnceLock;

use api_kit::openapi::OperationDoc;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::Value;

use crate::sections;

/// The rendered document, which is the same for all callers. Rendering takes some milliseconds.
static DOCUMENT: OnceLock<Bytes> = OnceLock::new();

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-openapi-document", sections::SERVICE, "This document")
        .description("An OpenAPI 3.1 document of the whole API, the same for all callers. `/docs` shows it as a page.")
        .returns_bytes(200, "The document.", &["application/json"])
}

/// Renders the document of the route table at the first request.
pub(crate) async fn handle(document: fn() -> Value) -> impl IntoResponse {
    let bytes = DOCUMENT.get_or_init(|| document().to_string().into());
    ([(CONTENT_TYPE, "application/json")], bytes.clone())
}
