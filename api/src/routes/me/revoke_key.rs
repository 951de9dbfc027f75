//! `DELETE /v1/{organization}/user/me/api_key/{api_key_id}`: one of the caller's own keys ends, with its tokens.

use axum::extract::State;
use axum::http::StatusCode;
use registry::ApiKeyId;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("revoke-own-api-key", Tag::Identity, "Revoke a key of one's own")
        .says("One of the caller's own keys ends, and its tokens with it, also the one that asks.")
        .answers_nothing(204, "Revoked.")
        .refuses(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(key): InPath<ApiKeyId>,
) -> Result<StatusCode, Error> {
    app.store().revoke_api_key(&principal.organization, Some(&principal.user), &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
