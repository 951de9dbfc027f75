//! `GET /docs`: the OpenAPI document as a page, shown by Swagger UI.

use axum::response::IntoResponse;

use super::headers;
use crate::openapi::{Operation, Tag};

/// The icons of Swagger UI are `data:` images.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn operation() -> Operation {
    Operation::new("get-reference", Tag::Service, "The reference for people")
        .says("This document as an HTML page. Nothing of it comes from another host.")
        .answers_bytes(200, "The page.", &["text/html"])
}

pub(crate) async fn handle() -> impl IntoResponse {
    (headers("text/html; charset=utf-8", POLICY), include_str!("reference.html"))
}
