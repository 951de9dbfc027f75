//! `POST /oauth/authorize`: the decision of a user.

use api_kit::error::Error;
use api_kit::openapi::{OperationDoc, STORE_CODES};
use api_kit::server::Peer;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use mcp::{Asked, Authorization, AuthorizationRefused, Consent, Decision, OauthError, OauthServer, Page, Parameters};
use serde_json::Value;

use super::{fields, respond_refused};
use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("post-oauth-authorization", sections::SIGN_IN, "Allow or deny an authorisation")
        .description(
            "The form of the page. It has the user and an API key: there are no sessions of browsers. A wrong key counts as a \
            wrong sign-in, and shows the page again.",
        )
        .form(schema)
        .returns_nothing(303, "The code or an error, sent to the client with `state` and `iss`.")
        .pages(&[400, 403, 429, 503])
        .errors(503, &["client_documents_busy"])
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
    fields::build_form_schema(&[&fields::AUTHORIZATION[..], &own].concat())
}

/// Whether a browser says that the form is one of another site, which could send users on without their doing. The page of this
/// server has no referrer, so that its own form may have the origin `null`. Other clients say nothing.
fn is_of_another_site(headers: &HeaderMap, issuer: &str) -> bool {
    // Behind a proxy, the issuer may have another scheme.
    let host = |url: &str| url.split_once("://").map(|(_, host)| host.to_ascii_lowercase());
    let value = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let is_foreign = value("origin").is_some_and(|origin| origin != "null" && host(origin) != host(issuer));
    is_foreign || value("sec-fetch-site").is_some_and(|site| site != "same-origin")
}

pub(crate) async fn handle(State(server): State<OauthServer>, request: Request) -> Result<Response, Error> {
    let issuer = server.public.of(request.headers()).ok_or(Error::NotFound)?;
    let peer = Peer::of(request.extensions());
    if is_of_another_site(request.headers(), &issuer) {
        let text = "the form was sent by another site: open the page of this server again, and decide there";
        return respond_refused(OauthError::invalid_request(text).into());
    }
    let parameters = match Parameters::of_form(request).await? {
        Ok(parameters) => parameters,
        Err(error) => return respond_refused(AuthorizationRefused::Shown(error)),
    };
    let asked = Asked { server: &server, address: peer };
    let asked = match Authorization::read(asked, &parameters, issuer).await {
        Ok(asked) => asked,
        Err(error) => return respond_refused(error),
    };
    let consent = match Consent::read(&parameters) {
        Ok(consent) => consent,
        Err(error) => return respond_refused(AuthorizationRefused::Shown(error)),
    };
    let page = |problem| Page { asked: &asked, parameters: &parameters, problem };
    match consent.decide(&server, &asked, peer).await {
        Ok(Decision::Allowed(code)) => asked.redirect.with_code(&code),
        Ok(Decision::Denied) => {
            asked.redirect.with_error(&OauthError::new("access_denied", "the user denied the access"))
        }
        Ok(Decision::Unclear(problem)) => Ok(page(Some(problem.to_owned())).respond().into_response()),
        Err(error) => page(None).respond_to_limit(error).map(IntoResponse::into_response),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn browsers_tell_of_which_site_a_form_is() {
        for (headers, expected) in [
            (&[][..], false),
            (&[("origin", "null"), ("sec-fetch-site", "same-origin")], false),
            (&[("origin", "https://tools.example.com")], false),
            (&[("origin", "https://evil.example")], true),
            (&[("origin", "null"), ("sec-fetch-site", "cross-site")], true),
            (&[("sec-fetch-site", "same-site")], true),
            (&[("sec-fetch-site", "none")], true),
        ] {
            let pairs =
                headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            let headers = HeaderMap::from_iter(pairs);
            assert_eq!(is_of_another_site(&headers, "https://tools.example.com"), expected, "{headers:?}");
        }
    }
}
