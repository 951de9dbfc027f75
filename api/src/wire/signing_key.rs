//! The public keys of an organisation's signatures.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use registry::SigningKeyInUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A JSON Web Key Set (RFC 7517) of Ed25519 keys (RFC 8037).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SigningKeys {
    /// The keys, oldest first.
    #[schemars(length(max = 100))]
    pub keys: Vec<SigningKey>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SigningKey {
    pub kty: String,
    pub crv: String,
    pub alg: String,
    #[serde(rename = "use")]
    pub purpose: String,
    /// The SHA-256 of the key's SubjectPublicKeyInfo, in hexadecimal: the `keyid` of signatures.
    pub kid: String,
    /// The key's 32 bytes, in base64url.
    pub x: String,
    /// The same key as a PEM file.
    pub pem: String,
    /// The time of the key's first signature.
    pub created_at: String,
}

impl From<SigningKeyInUse> for SigningKey {
    fn from(SigningKeyInUse { key, since }: SigningKeyInUse) -> Self {
        Self {
            kty: "OKP".to_owned(),
            crv: "Ed25519".to_owned(),
            alg: "EdDSA".to_owned(),
            purpose: "sig".to_owned(),
            kid: key.id(),
            x: URL_SAFE_NO_PAD.encode(key.as_bytes()),
            pem: key.to_pem(),
            created_at: since.to_string(),
        }
    }
}
