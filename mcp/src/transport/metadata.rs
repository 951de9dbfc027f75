//! The description of a gateway as a protected resource (RFC 9728).

use api_kit::public_url::PublicBase;
use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::oauth::SCOPE;

/// Describes the resource at a path below the well-known one, under the URL that the client wrote: clients refuse a description of another
/// resource (RFC 9728, section 3.3). Whether there is such a gateway is not told.
pub fn describe_resource(public: &PublicBase, headers: &HeaderMap, path: &str) -> Option<Value> {
    let (base, written) = (public.of(headers)?, public.as_written(headers)?);
    Some(json!({
        "resource": format!("{written}/{path}"),
        "authorization_servers": [base],
        "scopes_supported": [SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Lathe MCP gateway",
        "resource_documentation": format!("{base}/docs"),
    }))
}
