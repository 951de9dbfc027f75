//! `POST /v1/{organization}/user/signin_with_api_key`: an API key for a token.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use registry::{OrganizationId, SignIn, SignInRefused, SignedIn};
use serde::Serialize;

use crate::app::App;
use crate::error::Error;
use crate::extract;

/// The organisation that the path names.
pub(crate) struct Organization(String);

#[derive(Serialize)]
pub(crate) struct Response {
    id_token: String,
    expires_at: String,
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

impl<S: Send + Sync> FromRequestParts<S> for Organization {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        extract::parameter(parts, state, "organization").await.map(Self)
    }
}
