//! `POST /v1/{organization}/user/me/api_key`: one more key for the caller. It can what their other keys can.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::routes::api_keys::wire::{CreatedApiKey, KeyTerms};

pub(crate) struct Request(KeyTerms);

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    Body(Request(terms)): Body<Request>,
) -> Result<(StatusCode, Json<CreatedApiKey>), Error> {
    let new = terms.key_for(principal.user, app.clock());
    let expires_at = new.expires_at;
    let key = app.store().create_api_key(&principal.organization, new).await?;
    Ok((StatusCode::CREATED, Json(CreatedApiKey::new(key, expires_at))))
}

impl FromBody for Request {
    fn from_body(body: &Node) -> Option<Self> {
        KeyTerms::from_body(body).map(Self)
    }
}
