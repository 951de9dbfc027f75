//! `POST /oauth/token`: exchanges a code or a refresh token for tokens.

use api_kit::error::Error;
use api_kit::openapi::{OperationDoc, STORE_CODES};
use api_kit::public_url::canonicalize;
use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use mcp::{OauthError, Parameters, SCOPE};
use registry::{ACCESS_LIFETIME, AuthorizationTerms, IssuedAccess, PkceChallenge, Refresh, Store};
use serde_json::{Value, json};

use super::fields;
use crate::sections;
use crate::wire::{OauthTokens, SecretText};

const FIELDS: [(&str, &str); 7] = [
    ("grant_type", "`authorization_code` or `refresh_token`."),
    ("client_id", "The client that the code or the token was issued to."),
    ("code", "The code."),
    ("code_verifier", "The verifier of the code's challenge (RFC 7636)."),
    ("redirect_uri", "That of the authorisation; it may be left out."),
    ("resource", "That of the authorisation. With a refresh token it may be left out."),
    ("refresh_token", "The refresh token."),
];

pub(crate) fn operation() -> OperationDoc {
    let example = json!({
        "access_token": "lat_…", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "lrt_…", "scope": "mcp",
    });
    OperationDoc::new("create-oauth-token", sections::SIGN_IN, "Exchange a code or a refresh token")
        .description(
            "The token endpoint of OAuth 2.1, for public clients. A code is used once, within 60 seconds. Each use of a \
            refresh token returns the next one. A second use of a code ends the authorisation, and so does one of a refresh token, \
            unless the same client uses it again within ten seconds: an answer may be lost, and two requests may meet.",
        )
        .form(schema)
        .returns::<OauthTokens>(200, "The tokens.", example)
        .errors_of_schema("OauthError", &[400])
        .errors(503, STORE_CODES)
}

fn schema() -> Value {
    fields::build_form_schema(&FIELDS)
}

pub(crate) async fn handle(State(store): State<Store>, request: Request) -> Result<Response, Error> {
    let parameters = match Parameters::of_form(request).await? {
        Ok(parameters) => parameters,
        Err(error) => return Ok(error.into_response()),
    };
    match Grant::read(&parameters) {
        Ok(grant) => {
            let issued = grant.issue(&store).await?;
            Ok(issued.map_or_else(|| OauthError::invalid_grant().into_response(), |issued| render_access(&issued)))
        }
        Err(error) => Ok(error.into_response()),
    }
}

/// The code or the refresh token that a client exchanges for tokens.
enum Grant<'a> {
    Code { code: &'a str, terms: AuthorizationTerms },
    Refresh(Refresh<'a>),
}

impl<'a> Grant<'a> {
    fn read(parameters: &'a Parameters) -> Result<Self, OauthError> {
        let client_id = || parameters.require_value("client_id");
        match parameters.require_value("grant_type")? {
            "authorization_code" => {
                let challenge = PkceChallenge::of_verifier(parameters.require_value("code_verifier")?);
                let terms = AuthorizationTerms {
                    client_id: client_id()?.to_owned(),
                    redirect_uri: parameters.find_value("redirect_uri")?.map(str::to_owned),
                    resource: canonicalize(parameters.require_value("resource")?),
                    challenge: challenge.ok_or_else(OauthError::invalid_grant)?,
                };
                Ok(Self::Code { code: parameters.require_value("code")?, terms })
            }
            "refresh_token" => {
                let refresh_token = parameters.require_value("refresh_token")?;
                let resource = parameters.find_value("resource")?.map(canonicalize);
                Ok(Self::Refresh(Refresh { refresh_token, client_id: client_id()?, resource }))
            }
            _ => Err(OauthError::new(
                "unsupported_grant_type",
                "the `grant_type` should be `authorization_code` or `refresh_token`",
            )),
        }
    }

    async fn issue(self, store: &Store) -> registry::Result<Option<IssuedAccess>> {
        match self {
            Self::Code { code, terms } => store.access().exchange_code(code, terms).await,
            Self::Refresh(refresh) => store.access().refresh_access(refresh).await,
        }
    }
}

fn render_access(issued: &IssuedAccess) -> Response {
    let tokens = OauthTokens {
        access_token: SecretText::new(issued.access_token.expose().to_owned()),
        token_type: "Bearer".to_owned(),
        expires_in: ACCESS_LIFETIME.as_secs(),
        refresh_token: SecretText::new(issued.refresh_token.expose().to_owned()),
        scope: SCOPE.to_owned(),
    };
    Json(tokens).into_response()
}
