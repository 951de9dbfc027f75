//! `GET /.well-known/oauth-protected-resource/{*resource}`: how clients get access to an MCP endpoint (RFC 9728).

use api_kit::error::Error;
use api_kit::openapi::{OperationDoc, Parameter, schemas};
use api_kit::public_url::PublicBase;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use mcp::describe_resource;

use crate::sections;

const PREFIX: &str = "/.well-known/oauth-protected-resource/";

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("get-protected-resource", sections::AGENTS, "Describe an MCP endpoint as a protected resource")
        .description("RFC 9728. The answer is the same for gateways that exist and for those that do not.")
        .parameter(Parameter::path("resource", "The path of the endpoint.", schemas::text()))
        .returns_bytes(200, "The description.", &["application/json"])
        .errors(404, &["not_found"])
}

pub(crate) async fn handle(State(public): State<PublicBase>, request: Request) -> Result<Response, Error> {
    let path = request.uri().path().strip_prefix(PREFIX).filter(|path| is_endpoint(path)).ok_or(Error::NotFound)?;
    let described = describe_resource(&public, request.headers(), path).ok_or(Error::NotFound)?;
    Ok(Json(described).into_response())
}

fn is_endpoint(path: &str) -> bool {
    matches!(path.trim_end_matches('/').split('/').collect::<Vec<_>>()[..], ["v1", _, "mcp", _])
}
