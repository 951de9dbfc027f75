//! `GET /v1/{organization}/keys`: the public keys that the organisation's versions are signed with.

use axum::Json;
use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use registry::SigningKeyInUse;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::openapi::{Operation, Tag};

/// A JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SigningKeys")]
pub(crate) struct Response {
    /// Oldest first.
    keys: Vec<Key>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SigningKey")]
struct Key {
    kty: &'static str,
    crv: &'static str,
    alg: &'static str,
    #[serde(rename = "use")]
    purpose: &'static str,
    /// SHA-256 of the key's SubjectPublicKeyInfo, in hexadecimal: the `keyid` of signatures.
    kid: String,
    /// The key's 32 bytes, in base64url.
    x: String,
    /// The same key as a PEM file.
    pem: String,
    /// When it signed its first version.
    created_at: String,
}

pub(crate) fn operation() -> Operation {
    Operation::new("list-signing-keys", Tag::Versions, "List the keys that versions are signed with")
        .says("The public keys with which provenance is verified. There are none before the first version.")
        .answers::<Response>(200, "The keys.", example())
}

fn example() -> Value {
    json!({"keys": [{
        "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "5".repeat(64),
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "pem": "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n",
        "created_at": "2026-01-31T12:00:00.000Z",
    }]})
}

pub(crate) async fn handle(State(app): State<App>, Caller(principal): Caller) -> Result<Json<Response>, Error> {
    let keys = app.store().signing_keys(&principal.organization).await?;
    Ok(Json(Response { keys: keys.into_iter().map(Key::from).collect() }))
}

impl From<SigningKeyInUse> for Key {
    fn from(SigningKeyInUse { key, since }: SigningKeyInUse) -> Self {
        Self {
            kty: "OKP",
            crv: "Ed25519",
            alg: "EdDSA",
            purpose: "sig",
            kid: key.id(),
            x: URL_SAFE_NO_PAD.encode(key.as_bytes()),
            pem: key.to_pem(),
            created_at: since.to_string(),
        }
    }
}
