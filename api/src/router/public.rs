//! The operations without a permission.

/// The probes of health.
pub(super) const PROBES: [&str; 2] = ["/health/live", "/health/ready"];

/// Operations that every client may call.
pub(super) const PUBLIC: [(&str, &str); 16] = [
    ("GET", "/"),
    ("GET", "/.well-known/oauth-authorization-server"),
    ("GET", "/.well-known/oauth-protected-resource/{*resource}"),
    ("GET", "/api/v1/downloads/{download}"),
    ("GET", "/docs"),
    ("GET", "/docs/errors"),
    ("GET", "/docs/{asset}"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/oauth/authorize"),
    ("GET", "/v1/openapi.json"),
    ("POST", "/oauth/authorize"),
    ("POST", "/oauth/register"),
    ("POST", "/oauth/revoke"),
    ("POST", "/oauth/token"),
    ("POST", "/v1/{organization}/user/signin_with_api_key"),
];
