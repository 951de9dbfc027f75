//! `GET /docs/errors`: the error reference, with an anchor for each code.

use std::sync::LazyLock;

use api_kit::openapi::OperationDoc;
use axum::response::IntoResponse;

use super::{build_headers, markdown};
use crate::sections;

const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The file of the repository.
const TEXT: &str = include_str!("../../../../docs/reference/errors.md");

static PAGE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
        content=\"width=device-width, initial-scale=1\">\n<title>Lathe: errors</title>\n<link rel=\"icon\" \
        href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/docs/page.css\">\n</head>\n<body>\n<p><a \
        href=\"/docs\">HTTP reference</a></p>\n{}</body>\n</html>\n",
        markdown::render_markdown(TEXT)
    )
});

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-error-reference", sections::SERVICE, "The error reference")
        .description("The meaning of every error code, and what to do about it. `/docs/errors#<code>` shows one code.")
        .returns_bytes(200, "The page.", &["text/html"])
}

pub(crate) async fn handle() -> impl IntoResponse {
    (build_headers("text/html; charset=utf-8", POLICY), PAGE.as_str())
}
