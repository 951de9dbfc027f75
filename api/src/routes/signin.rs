//! `POST /v1/{organization}/user/signin_with_api_key`: exchanges an API key for a token.

use api_kit::error::{Error, Problem};
use api_kit::extract;
use api_kit::openapi::{DocumentedInput, Inputs, OperationDoc, Parameter, STORE_CODES, schemas};
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use registry::{OrganizationId, SignIn, SignInRefused, SignedIn, Store};
use serde_json::json;

use crate::sections;
use crate::wire::{SecretText, Token};

/// The headers with the key's id, the key, and its user.
const HEADERS: [&str; 3] = ["x-api-key-id", "x-api-key", "x-user-id"];

/// The organisation in the path.
pub(crate) struct Organization(String);

pub(crate) fn operation() -> OperationDoc {
    let [key_id, key, user] = HEADERS;
    let header = |name, description| Parameter::header(name, description, schemas::text()).required();
    OperationDoc::new("sign-in-with-api-key", sections::SIGN_IN, "Sign in with an API key")
        .description("Returns a token for an API key. The key is in the headers; the body is empty.")
        .parameter(header(key_id, "The key's id."))
        .parameter(header(key, "The key."))
        .parameter(header(user, "The id of the key's user."))
        .returns::<Token>(200, "The token.", json!({"id_token": "lt_5f2b…", "expires_at": "2026-11-20T21:32:05.000Z"}))
        .errors(401, &["unauthenticated"])
        .errors(404, &["not_found"])
        .errors(422, &["request_invalid"])
        .errors(429, &["rate_limited"])
        .errors(503, STORE_CODES)
}

/// The key is in the headers. The response does not tell whether the key, the key id or the user is wrong; only the holder of a whole
/// key learns that it expired or was revoked.
pub(crate) async fn handle(
    State(store): State<Store>,
    Organization(organization): Organization,
    headers: HeaderMap,
) -> Result<Json<Token>, Error> {
    let [api_key_id, api_key, user] = read_texts(&headers)?;
    let organization = OrganizationId::parse(&organization).map_err(|_| Error::NotFound)?;
    let sign_in = SignIn { organization: &organization, api_key_id, api_key, user };
    match store.access().sign_in(sign_in).await? {
        SignedIn::Issued(token) => {
            let expires_at = token.expires_at.to_string();
            Ok(Json(Token { id_token: SecretText::new(token.id_token.expose().to_owned()), expires_at }))
        }
        SignedIn::Refused(SignInRefused::UnknownOrganization) => Err(Error::NotFound),
        SignedIn::Refused(SignInRefused::BadCredentials) => {
            let ended = store.access().find_key_end(api_key).await?;
            Err(ended.map_or(Error::Unauthenticated, Error::KeyEnded))
        }
    }
}

/// The values of [`HEADERS`], which must be present. A value that is not a text is wrong.
fn read_texts(headers: &HeaderMap) -> Result<[&str; 3], Error> {
    let missing = HEADERS.into_iter().filter(|name| !headers.contains_key(*name));
    let problem = |name: &str| Problem::new(vec!["header".into(), name.into()], "missing", "Field required");
    let problems: Vec<Problem> = missing.map(problem).collect();
    if !problems.is_empty() {
        return Err(Error::Invalid { problems });
    }
    Ok(HEADERS.map(|name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()))
}

/// The document describes the organisation once for all paths.
impl DocumentedInput for Organization {
    fn describe(_: &mut Inputs) {}
}

impl<S: Send + Sync> FromRequestParts<S> for Organization {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        extract::read_parameter(parts, state, "organization").await.map(Self)
    }
}
