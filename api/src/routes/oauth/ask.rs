//! `GET /oauth/authorize`: the page on which a user allows the access of a client.

use api_kit::error::Error;
use api_kit::openapi::{OperationDoc, STORE_CODES};
use api_kit::server::Peer;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use mcp::{Asked, Authorization, AuthorizationRefused, OauthServer, Page, Parameters};

use super::fields::list_authorization_parameters;
use super::respond_refused;
use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    let operation = OperationDoc::new("get-oauth-authorization", sections::SIGN_IN, "Show the page of an authorisation")
        .description(
            "The authorization endpoint of OAuth 2.1. A program sends its user here. Errors are a page: nothing is sent to the \
            client before its user has decided.",
        )
        .returns_bytes(200, "The page with the form.", &["text/html"])
        .pages(&[400, 429, 503])
        .errors(503, &["client_documents_busy"])
        .errors(404, &["not_found"])
        .errors(503, STORE_CODES);
    list_authorization_parameters().fold(operation, OperationDoc::parameter)
}

pub(crate) async fn handle(State(server): State<OauthServer>, request: Request) -> Result<Response, Error> {
    let issuer = server.public.of(request.headers()).ok_or(Error::NotFound)?;
    let parameters = match Parameters::of_query(&request) {
        Ok(parameters) => parameters,
        Err(error) => return respond_refused(AuthorizationRefused::Shown(error)),
    };
    let asked = Asked { server: &server, address: Peer::of(request.extensions()) };
    match Authorization::read(asked, &parameters, issuer).await {
        Ok(asked) => Ok(Page { asked: &asked, parameters: &parameters, problem: None }.respond().into_response()),
        Err(error) => respond_refused(error),
    }
}
