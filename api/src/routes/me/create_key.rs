//! `POST /v1/{organization}/user/me/api_key`: one more key for the caller. It can what their other keys can, and lasts no
//! longer than the key that makes it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::openapi::{Operation, Tag};
use crate::routes::api_keys::wire::{self, CreatedApiKey, KeyTerms};

pub(crate) struct Request(KeyTerms);

pub(crate) fn operation() -> Operation {
    Operation::new("create-own-api-key", Tag::Identity, "Create a key of one's own")
        .says("One more key for the caller, with the same rights. It ends with the key that the caller signed in with, if \
            that one ends, or before. Its secret is shown this once.")
        .answers::<CreatedApiKey>(201, "The key.", wire::created_example())
        .refuses(400, &["user_unknown", "invalid_value", "too_many"])
        .leads_to("revoke-own-api-key", "api_key_id", "/api_key_id")
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request(terms)): Body<Request>,
) -> Result<(StatusCode, Json<CreatedApiKey>), Error> {
    let mut new = terms.key_for(principal.user, app.clock());
    if let Some(end) = principal.key_ends_at {
        new.expires_at = Some(new.expires_at.map_or(end, |asked| asked.min(end)));
    }
    let expires_at = new.expires_at;
    let key = app.store().create_api_key(&principal.organization, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedApiKey::new(key, expires_at))))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateOwnApiKey";

    fn form() -> Value {
        KeyTerms::form()
    }

    fn example() -> Value {
        json!({"name": "laptop", "expires_in": 7_776_000})
    }

    fn from_body(body: &Node) -> Option<Self> {
        KeyTerms::from_body(body).map(Self)
    }
}
