//! `DELETE /v1/{organization}/user/me/api_key/{api_key_id}`: revokes one of the caller's keys and its tokens.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{ApiKeyId, Store};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("revoke-own-api-key", sections::IDENTITY, "Revoke a key of the caller")
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
