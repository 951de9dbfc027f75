//! `GET /`: says what this is and where to go.

use api_kit::openapi::OperationDoc;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::sections;

const TEXT: &str = concat!(
    "Lathe ",
    env!("CARGO_PKG_VERSION"),
    "\n\n\
    This server turns git commits into versioned, sandboxed, recorded tools, and runs them over HTTP.\n\n\
    /docs             the HTTP reference\n\
    /docs/errors      the error codes\n\
    /v1/openapi.json  the OpenAPI document\n\
    /health/ready     whether the server is ready\n\n\
    Every other path begins with /v1/ORGANIZATION and needs credentials: sign in with `lathe login`, or with an API key\n\
    at POST /v1/ORGANIZATION/user/signin_with_api_key.\n"
);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-root", sections::SERVICE, "Say what this is")
        .description("What the server is, and the paths to begin with, as plain text.")
        .returns_bytes(200, "The text.", &["text/plain"])
}

pub(crate) async fn handle() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], TEXT)
}
