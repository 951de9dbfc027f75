//! `DELETE /v1/{organization}/api_key/{api_key_id}`: revokes the key of any user and its tokens.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::InPath;
use api_kit::openapi::OperationDoc;
use axum::extract::State;
use axum::http::StatusCode;
use registry::{ApiKeyId, Store};

use crate::sections;

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("revoke-api-key", sections::IDENTITY, "Revoke a key")
        .description(
            "Revokes the key of any user and its tokens: on this server at once, on other servers within a second.",
        )
        .returns_nothing(204, "Revoked.")
        .errors(409, &["last_administrator"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    Caller(principal): Caller,
    InPath(key): InPath<ApiKeyId>,
) -> Result<StatusCode, Error> {
    store.access().revoke_api_key(&principal.organization, None, &key).await?;
    Ok(StatusCode::NO_CONTENT)
}
