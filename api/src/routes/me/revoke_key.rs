//! `DELETE /v1/{organization}/user/me/api_key/{api_key_id}`: revokes one of the caller's keys and its tokens.

use axum::extract::State;
use axum::http::StatusCode;
use registry::{ApiKeyId, Store};

use crate::caller::Caller;
use crate::error::Error;
use crate::extract::InPath;
use crate::openapi::{OperationDoc, Tag};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("revoke-own-api-key", Tag::IDENTITY, "Revoke a key of the caller")
        .description("Revokes one of the caller's keys and its tokens, including the token of this request.")
        .returns_nothing(204, "Revoked.")
        .errors(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(key): InPath<ApiKeyId>,
) -> Result<StatusCode, Error> {
    store.access().revoke_api_key(&principal.organization, Some(&principal.account), &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
