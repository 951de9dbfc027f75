//! The description of a gateway as a protected resource (RFC 9728).

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::oauth::SCOPE;
use crate::public_url::PublicBase;

/// Describes the resource at a path below the well-known one. Whether there is such a gateway is not told.
pub(crate) fn protected_resource(public: &PublicBase, headers: &HeaderMap, path: &str) -> Option<Value> {
    let base = public.of(headers)?;
    Some(json!({
        "resource": format!("{base}/{path}"),
        "authorization_servers": [base],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Lathe MCP gateway",
        "resource_documentation": format!("{base}/docs"),
    }))
}
