//! `POST /v1/{organization}/user/signin_with_api_key`: an API key for a token.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use registry::{OrganizationId, SignIn, SignInRefused, SignedIn};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::error::Error;
use crate::extract;
use crate::openapi::{Inputs, Operation, Parameter, Reads, STORE_CODES, Tag, form};

/// The organisation that the path names.
pub(crate) struct Organization(String);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub(crate) struct Response {
    /// Valid for twelve hours, in this organisation.
    id_token: String,
    #[schemars(extend("format" = "date-time"))]
    expires_at: String,
}

pub(crate) fn operation() -> Operation {
    let key = |name, says| Parameter::header(name, says, form::text()).required();
    Operation::new("sign-in-with-api-key", Tag::SignIn, "Sign in with an API key")
        .says("Gives a token for a key. The body is empty; the key travels in headers.")
        .reads(key("x-api-key-id", "The key's id."))
        .reads(key("x-api-key", "The key itself."))
        .reads(key("x-user-id", "The user to whom the key belongs."))
        .answers::<Response>(
            200,
            "The token.",
            json!({"id_token": "lt_5f2b…", "expires_at": "2026-11-20T21:32:05.000Z"}),
        )
        .refuses(401, &["unauthenticated"])
        .refuses(404, &["not_found"])
        .refuses(429, &["rate_limited"])
        .refuses(503, STORE_CODES)
}

/// Takes no body; the key travels in headers. Whether key, key id or user is wrong stays untold.
pub(crate) async fn handle(
    State(app): State<App>,
    Organization(organization): Organization,
    headers: HeaderMap,
) -> Result<Json<Response>, Error> {
    let organization = OrganizationId::parse(&organization).map_err(|_| Error::NotFound)?;
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let sign_in = SignIn {
        organization: &organization,
        api_key_id: header("x-api-key-id"),
        api_key: header("x-api-key"),
        user: header("x-user-id"),
    };
    match app.store().sign_in(sign_in).await? {
        SignedIn::Issued(token) => {
            let expires_at = token.expires_at.to_string();
            Ok(Json(Response { id_token: token.id_token.expose().to_owned(), expires_at }))
        }
        SignedIn::Refused(SignInRefused::UnknownOrganization) => Err(Error::NotFound),
        SignedIn::Refused(SignInRefused::BadCredentials) => Err(Error::Unauthenticated),
    }
}

/// Described for all paths that name one.
impl Reads for Organization {
    fn reads(_: &mut Inputs) {}
}

impl<S: Send + Sync> FromRequestParts<S> for Organization {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        extract::parameter(parts, state, "organization").await.map(Self)
    }
}
