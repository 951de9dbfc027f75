//! The description of the authorization server (RFC 8414).

use serde_json::{Value, json};

use super::SCOPE;

/// Describes the server with this base URL, which is its issuer.
pub fn describe_authorization_server(base: &str, accepts_registrations: bool) -> Value {
    let mut described = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/oauth/authorize"),
        "token_endpoint": format!("{base}/oauth/token"),
        "revocation_endpoint": format!("{base}/oauth/revoke"),
        "scopes_supported": [SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "service_documentation": format!("{base}/docs"),
    });
    if accepts_registrations {
        described["registration_endpoint"] = json!(format!("{base}/oauth/register"));
    }
    described
}
