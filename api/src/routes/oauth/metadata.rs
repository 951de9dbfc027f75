//! `GET /.well-known/oauth-authorization-server`: the description of the authorization server (RFC 8414).

use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use mcp::{OauthServer, describe_authorization_server};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new(
        "get-authorization-server",
        sections::SIGN_IN,
        "Describe the authorization server for MCP clients",
    )
    .description("RFC 8414. The issuer is the public URL of the server, or the host that the request names.")
    .returns_bytes(200, "The description.", &["application/json"])
    .errors(404, &["not_found"])
}

pub(crate) async fn handle(State(server): State<OauthServer>, headers: HeaderMap) -> Result<Response, Error> {
    let base = server.public.of(&headers).ok_or(Error::NotFound)?;
    Ok(Json(describe_authorization_server(&base, server.accepts_registrations)).into_response())
}
