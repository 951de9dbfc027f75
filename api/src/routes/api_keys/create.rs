//! `POST /v1/{organization}/api_key`: a key for any user.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use registry::UserId;

use super::wire::{CreatedApiKey, KeyTerms};
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};

pub(crate) struct Request {
    user: UserId,
    terms: KeyTerms,
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
    fn from_body(body: &Node) -> Option<Self> {
        let user = body.required("user_id").and_then(|node| node.parsed(UserId::parse));
        let terms = KeyTerms::from_body(body);
        Some(Self { user: user?, terms: terms? })
    }
}
