//! `POST /oauth/register`: a client registers itself (RFC 7591), if the operator permits it.

use api_kit::error::Error;
use api_kit::extract::{expect_length, read};
use api_kit::openapi::{OperationDoc, STORE_CODES};
use api_kit::server::Peer;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mcp::{OauthServer, RegistrationRefused, register};
use serde_json::json;

use crate::sections;
use crate::wire::OauthClient;

pub(crate) fn operation() -> OperationDoc {
    let example = json!({
        "client_id": "lcl_…", "client_name": "Editor", "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"], "scope": "mcp",
    });
    OperationDoc::new("register-oauth-client", sections::SIGN_IN, "Register an OAuth client")
        .description(
            "RFC 7591. Only with the server's option `--oauth-registration`; 404 without it. The client is public, whatever it \
            asks for. Clients that no user has authorised within a day are deleted.",
        )
        .binary_body(&["application/json"])
        .returns::<OauthClient>(201, "The client.", example)
        .errors_of_schema("OauthError", &[400])
        .errors(400, &["body_cut_off"])
        .errors(404, &["not_found"])
        .errors(408, &["body_too_slow"])
        .errors(413, &["body_too_large"])
        .errors(503, STORE_CODES)
}

pub(crate) async fn handle(State(server): State<OauthServer>, request: Request) -> Result<Response, Error> {
    if !server.accepts_registrations {
        return Err(Error::NotFound);
    }
    expect_length(request.headers())?;
    let address = Peer::of(request.extensions());
    let document = read(request.into_body()).await?;
    match register(server.store.registry(), &document, address).await {
        Ok(client) => Ok((StatusCode::CREATED, Json(OauthClient::new(client))).into_response()),
        Err(RegistrationRefused::Invalid(error)) => Ok(error.into_response()),
        Err(RegistrationRefused::Failed(error)) => Err(error),
    }
}
