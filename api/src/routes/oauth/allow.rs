//! `POST /oauth/authorize`: the decision of a user.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use super::{fields, refused};
use crate::error::Error;
use crate::oauth::{Authorization, AuthorizationRefused, Consent, Decision, OauthError, OauthServer, Page, Parameters};
use crate::openapi::{OperationDoc, STORE_CODES, Tag};
use crate::server::Peer;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("post-oauth-authorization", Tag::SignIn, "Allow or deny an authorisation")
        .description(
            "The form of the page. It has the user and an API key: there are no sessions of browsers. A wrong key counts as a \
            wrong sign-in, and shows the page again.",
        )
        .form(schema)
        .returns_nothing(303, "The code or an error, sent to the client with `state` and `iss`.")
        .pages(&[400, 403, 429])
        .errors(404, &["not_found"])
        .errors(429, &["rate_limited"])
        .errors(503, STORE_CODES)
}

fn schema() -> Value {
    let own = [
        ("user", "The id of the user."),
        ("api_key", "An API key of the user."),
        ("decision", "`allow`, or anything else."),
    ];
    fields::form(&[&fields::AUTHORIZATION[..], &own].concat())
}

pub(crate) async fn handle(State(server): State<OauthServer>, request: Request) -> Result<Response, Error> {
    let issuer = server.public.of(request.headers()).ok_or(Error::NotFound)?;
    let peer = Peer::of(request.extensions());
    let parameters = match Parameters::of_form(request).await? {
        Ok(parameters) => parameters,
        Err(error) => return refused(AuthorizationRefused::Shown(error)),
    };
    let asked = match Authorization::read(&server, &parameters, issuer).await {
        Ok(asked) => asked,
        Err(error) => return refused(error),
    };
    let consent = match Consent::read(&parameters) {
        Ok(consent) => consent,
        Err(error) => return refused(AuthorizationRefused::Shown(error)),
    };
    let page = |problem| Page { asked: &asked, parameters: &parameters, problem };
    match consent.decide(&server, &asked, peer).await {
        Ok(Decision::Allowed(code)) => asked.redirect.with_code(&code),
        Ok(Decision::Denied) => {
            asked.redirect.with_error(&OauthError::new("access_denied", "the user denied the access"))
        }
        Ok(Decision::Unclear(problem)) => Ok(page(Some(problem.to_owned())).response().into_response()),
        Err(error) => page(None).limited(error).map(IntoResponse::into_response),
    }
}
