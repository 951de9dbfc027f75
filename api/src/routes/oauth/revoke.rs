//! `POST /oauth/revoke`: ends a token (RFC 7009).

use api_kit::error::Error;
use api_kit::openapi::{OperationDoc, STORE_CODES};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mcp::{OauthError, Parameters};
use registry::Store;
use serde_json::Value;

use super::fields;
use crate::sections;

const FIELDS: [(&str, &str); 3] = [
    ("token", "An access token, or a refresh token, with which the whole authorisation ends."),
    ("token_type_hint", "May be given, and has no effect: tokens tell their kind."),
    ("client_id", "The client that the token was issued to."),
];

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("revoke-oauth-token", sections::SIGN_IN, "Revoke a token of an OAuth client")
        .description(
            "RFC 7009. A token that is not valid, or of another client, is left as it is; the answer is the same.",
        )
        .form(schema)
        .returns_nothing(200, "The client has no such token any more.")
        .errors_of_schema("OauthError", &[400])
        .errors(503, STORE_CODES)
}

fn schema() -> Value {
    fields::build_form_schema(&FIELDS)
}

pub(crate) async fn handle(State(store): State<Store>, request: Request) -> Result<Response, Error> {
    let parameters = Parameters::of_form(request).await?;
    match parameters.as_ref().map_err(Clone::clone).and_then(read_token_and_client) {
        Ok([token, client_id]) => {
            store.access().revoke_access(token, client_id).await?;
            Ok(StatusCode::OK.into_response())
        }
        Err(error) => Ok(error.into_response()),
    }
}

fn read_token_and_client(parameters: &Parameters) -> Result<[&str; 2], OauthError> {
    // Tokens tell their kind, but a repeated parameter is an error.
    parameters.find_value("token_type_hint")?;
    Ok([parameters.require_value("token")?, parameters.require_value("client_id")?])
}
