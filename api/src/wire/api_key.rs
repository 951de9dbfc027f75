//! API keys.

use registry::{IssuedKey, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SecretText;

/// A key without its secret.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApiKey {
    pub api_key_id: String,
    /// The first characters of the key.
    pub prefix: String,
    pub user_id: String,
    pub name: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: Option<String>,
    /// The hour of the last sign-in with the key.
    #[schemars(extend("format" = "date-time"))]
    pub last_used_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub revoked_at: Option<String>,
}

/// A new key. Only this response shows its secret.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedApiKey {
    pub api_key_id: String,
    pub api_key: SecretText,
    pub user_id: String,
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: Option<String>,
}

impl CreatedApiKey {
    pub(crate) fn new(key: IssuedKey, expires_at: Option<Timestamp>) -> Self {
        Self {
            api_key_id: key.api_key_id,
            api_key: SecretText::new(key.api_key.expose().to_owned()),
            user_id: key.user.into(),
            expires_at: expires_at.map(|end| end.to_string()),
        }
    }
}

impl From<registry::ApiKey> for ApiKey {
    fn from(key: registry::ApiKey) -> Self {
        let text = |time: Timestamp| time.to_string();
        Self {
            prefix: key.id.prefix(),
            api_key_id: key.id.into(),
            user_id: key.account.user().into(),
            name: key.name.map(Into::into),
            created_at: text(key.created_at),
            expires_at: key.expires_at.map(text),
            last_used_at: key.last_used_at.map(text),
            revoked_at: key.revoked_at.map(text),
        }
    }
}
