//! The answer to a client without credentials: where the description of the resource is (RFC 9728).

use axum::extract::{Request, State};
use axum::http::header::{HOST, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::hosts::PublicUrl;

/// The beginning of the path of a description. The path of the resource follows.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The public URL of the server, for challenges.
#[derive(Clone)]
pub(crate) struct Challenge(pub Option<PublicUrl>);

impl Challenge {
    /// The base of absolute URLs: the public URL, or the host that the client named.
    pub(super) fn base(&self, host: Option<&HeaderValue>) -> Option<String> {
        match &self.0 {
            Some(url) => Some(url.to_string()),
            None => host.and_then(|host| host.to_str().ok()).map(|host| format!("http://{host}")),
        }
    }
}

/// Names the description of the resource in a response with the status 401.
pub(crate) async fn with_challenge(State(challenge): State<Challenge>, request: Request, next: Next) -> Response {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    let base = challenge.base(request.headers().get(HOST));
    let mut response = next.run(request).await;
    if response.status() == StatusCode::UNAUTHORIZED
        && let Some(base) = base
        && let Ok(value) =
            HeaderValue::from_str(&format!(r#"Bearer realm="lathe", resource_metadata="{base}{WELL_KNOWN}{path}""#))
    {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}
