//! `GET /v1/{organization}/keys`: the public keys of the organisation's signatures.

use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::openapi::OperationDoc;
use axum::Json;
use axum::extract::State;
use registry::Store;
use serde_json::{Value, json};

use crate::sections;
use crate::wire::{SigningKey, SigningKeys};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("list-signing-keys", sections::VERSIONS, "List the public signing keys")
        .description("The public keys that verify the provenance of versions. There are none before the first version.")
        .returns::<SigningKeys>(200, "The keys.", example())
}

fn example() -> Value {
    json!({"keys": [{
        "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "5".repeat(64),
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "pem": "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n",
        "created_at": "2026-01-31T12:00:00.000Z",
    }]})
}

pub(crate) async fn handle(State(store): State<Store>, Caller(principal): Caller) -> Result<Json<SigningKeys>, Error> {
    let keys = store.versions().signing_keys(&principal.organization).await?;
    Ok(Json(SigningKeys { keys: keys.into_iter().map(SigningKey::from).collect() }))
}
