//! `POST /v1/{organization}/user/me/api_key`: creates a key of the caller, with the same rights. It expires no later than
//! the key that the caller signed in with.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody};
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Clock, Store};
use serde_json::{Value, json};

use crate::routes::api_keys::terms::{KeyTerms, created_example};
use crate::sections;
use crate::wire::CreatedApiKey;

pub(crate) struct Request(KeyTerms);

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("create-own-api-key", sections::IDENTITY, "Create a key of the caller")
        .description(
            "Creates another key of the caller, with the same rights. It expires no later than the key that the caller \
            signed in with. Only this response shows the secret of the key.",
        )
        .returns::<CreatedApiKey>(201, "The key.", created_example())
        .errors(400, &["user_unknown", "invalid_value", "too_many"])
        .links_to("revoke-own-api-key", "api_key_id", "/api_key_id")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    State(clock): State<Clock>,
    Caller(principal): Caller,
    Body(Request(terms)): Body<Request>,
) -> Result<(StatusCode, Json<CreatedApiKey>), Error> {
    let mut new = terms.build_key(principal.account, &clock);
    if let Some(end) = principal.key.and_then(|key| key.ends_at) {
        new.expires_at = Some(new.expires_at.map_or(end, |asked| asked.min(end)));
    }
    let expires_at = new.expires_at;
    let key = store.access().create_api_key(&principal.organization, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedApiKey::new(key, expires_at))))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateOwnApiKey";

    fn example() -> Value {
        json!({"name": "laptop", "expires_in": 7_776_000})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        KeyTerms::read(fields).map(Self)
    }
}
