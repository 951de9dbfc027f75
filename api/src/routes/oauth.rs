//! OAuth for MCP clients: the page of an authorisation, tokens, and the description of the server.

pub(crate) mod allow;
pub(crate) mod ask;
mod fields;
pub(crate) mod metadata;
pub(crate) mod register;
pub(crate) mod revoke;
pub(crate) mod token;

use api_kit::error::Error;
use axum::response::{IntoResponse, Response};
use mcp::{AuthorizationRefused, PageResponse};

/// The response to a request that gets no authorisation.
fn respond_refused(refused: AuthorizationRefused) -> Result<Response, Error> {
    match refused {
        AuthorizationRefused::Shown(error) => Ok(PageResponse::of_error(&error).into_response()),
        AuthorizationRefused::Failed(error) => PageResponse::of_refusal(error).map(IntoResponse::into_response),
    }
}
