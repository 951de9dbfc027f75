//! The operations without a permission.

/// Operations that every client may call.
pub(super) const PUBLIC: [(&str, &str); 9] = [
    ("GET", "/"),
    ("GET", "/.well-known/oauth-protected-resource/{*resource}"),
    ("GET", "/docs"),
    ("GET", "/docs/errors"),
    ("GET", "/docs/{asset}"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/v1/openapi.json"),
    ("POST", "/v1/{organization}/user/signin_with_api_key"),
];
