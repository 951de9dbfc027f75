//! `DELETE /v1/{organization}/api_key/{api_key_id}`: the key of any user ends, and its tokens with it.

use axum::extract::State;
use axum::http::StatusCode;
use registry::ApiKeyId;

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{Operation, Tag};

pub(crate) fn operation() -> Operation {
    Operation::new("revoke-api-key", Tag::Identity, "Revoke a key")
        .says("The key of any user ends, and its tokens with it: here at once, elsewhere within a second.")
        .answers_nothing(204, "Revoked.")
        .refuses(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(key): InPath<ApiKeyId>,
) -> Result<StatusCode, Error> {
    app.store().revoke_api_key(&principal.organization, None, &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
