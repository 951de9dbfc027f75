//! `POST /v1/{organization}/api_key`: creates a key for any user.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::USER_ID;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{Clock, Store, UserId};
use serde_json::{Value, json};

use super::terms::{KeyTerms, created_example};
use crate::sections;
use crate::wire::CreatedApiKey;

pub(crate) struct Request {
    user: UserId,
    terms: KeyTerms,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("create-api-key", sections::IDENTITY, "Create a key")
        .description("Creates a key for a user of the organisation. Only this response shows the secret of the key.")
        .returns::<CreatedApiKey>(201, "The key.", created_example())
        .errors(400, &["user_unknown", "invalid_value", "too_many"])
        .links_to("revoke-api-key", "api_key_id", "/api_key_id")
}

pub(crate) async fn handle(
    State(store): State<Store>,
    State(clock): State<Clock>,
    Caller(principal): Caller,
    Body(Request { user, terms }): Body<Request>,
) -> Result<(StatusCode, Json<CreatedApiKey>), Error> {
    let new = terms.build_key(store.access().account(&principal.organization, &user).await?, &clock);
    let expires_at = new.expires_at;
    let key = store.access().create_api_key(&principal.organization, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedApiKey::new(key, expires_at))))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateApiKey";

    fn example() -> Value {
        json!({"user_id": "bob", "name": "laptop", "expires_in": 7_776_000})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let user = fields.read_required("user_id", USER_ID);
        let terms = KeyTerms::read(fields);
        Some(Self { user: user?, terms: terms? })
    }
}
