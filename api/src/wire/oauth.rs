//! Tokens and registered clients of OAuth, as its specifications spell them.

use registry::RegisteredClient;
use schemars::JsonSchema;
use serde::Serialize;

use super::SecretText;

/// The tokens of an OAuth client.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OauthTokens {
    #[schemars(with = "String")]
    pub access_token: SecretText,
    pub token_type: String,
    /// Seconds until the access token expires.
    pub expires_in: u64,
    #[schemars(with = "String")]
    pub refresh_token: SecretText,
    pub scope: String,
}

/// An OAuth client that registered itself.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OauthClient {
    pub client_id: String,
    pub client_name: String,
    pub redirect_uris: Vec<String>,
    pub token_endpoint_auth_method: &'static str,
    pub grant_types: [&'static str; 2],
    pub response_types: [&'static str; 1],
    pub scope: &'static str,
}

impl OauthClient {
    /// The public client that was registered.
    pub fn new(client: RegisteredClient) -> Self {
        Self {
            client_id: client.client_id,
            client_name: client.name,
            redirect_uris: client.redirect_uris,
            token_endpoint_auth_method: "none",
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            scope: "mcp",
        }
    }
}
