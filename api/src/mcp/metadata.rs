//! The description of a gateway as a protected resource (RFC 9728).

use axum::http::{HeaderMap, header::HOST};
use serde_json::{Value, json};

use super::challenge::Challenge;

/// Describes the resource at a path below the well-known one. Whether there is such a gateway is not told.
pub(crate) fn protected_resource(challenge: &Challenge, headers: &HeaderMap, path: &str) -> Option<Value> {
    let base = challenge.base(headers.get(HOST))?;
    Some(json!({
        "resource": format!("{base}/{path}"),
        "authorization_servers": [],
        "bearer_methods_supported": ["header"],
        "resource_name": "Lathe MCP gateway",
        "resource_documentation": format!("{base}/docs"),
    }))
}
