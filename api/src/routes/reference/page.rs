//! `GET /docs`: the OpenAPI document as a page, shown by Swagger UI.

use api_kit::openapi::OperationDoc;
use axum::response::IntoResponse;

use super::build_headers;
use crate::sections;

/// The icons of Swagger UI are `data:` images.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-reference", sections::SERVICE, "The HTTP reference")
        .description("This document as an HTML page. The page loads nothing from other hosts.")
        .returns_bytes(200, "The page.", &["text/html"])
}

pub(crate) async fn handle() -> impl IntoResponse {
    (build_headers("text/html; charset=utf-8", POLICY), include_str!("reference.html"))
}
