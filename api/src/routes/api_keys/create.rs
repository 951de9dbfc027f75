//! `POST /v1/{organization}/api_key`: a key for any user.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::UserId;
use serde_json::{Value, json};

use super::wire::{self, CreatedApiKey, KeyTerms};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::openapi::{Operation, Tag};
use crate::routes::names::user_id_form;

pub(crate) struct Request {
    user: UserId,
    terms: KeyTerms,
}

pub(crate) fn operation() -> Operation {
    Operation::new("create-api-key", Tag::Identity, "Create a key")
        .says("A key for any user of the organisation. Its secret is shown this once.")
        .answers::<CreatedApiKey>(201, "The key.", wire::created_example())
        .refuses(400, &["user_unknown", "invalid_value", "too_many"])
        .leads_to("revoke-api-key", "api_key_id", "/api_key_id")
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request { user, terms }): Body<Request>,
) -> Result<(StatusCode, Json<CreatedApiKey>), Error> {
    let new = terms.key_for(user, app.clock());
    let expires_at = new.expires_at;
    let key = app.store().create_api_key(&principal.organization, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedApiKey::new(key, expires_at))))
}

impl FromBody for Request {
    const NAME: &'static str = "CreateApiKey";

    fn form() -> Value {
        let mut form = KeyTerms::form();
        form["required"] = json!(["user_id"]);
        form["properties"]["user_id"] = user_id_form();
        form
    }

    fn example() -> Value {
        json!({"user_id": "bob", "name": "laptop", "expires_in": 7_776_000})
    }

    fn from_body(body: &Node) -> Option<Self> {
        let user = body.required("user_id").and_then(|node| node.parsed(UserId::parse));
        let terms = KeyTerms::from_body(body);
        Some(Self { user: user?, terms: terms? })
    }
}
