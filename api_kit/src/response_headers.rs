//! Headers of every response, also of refusals, streams and git. No cache of a browser or a proxy stores a response that
//! needed credentials, and no browser guesses the type of a response.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};

/// The header by which a server tells nginx, and proxies like it, not to collect a response before they pass it on.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// `Cache-Control` of public responses, which are the same for all clients until the program is replaced.
pub const PUBLIC_CACHE: &str = "max-age=300";

/// `Cache-Control` of all other responses.
pub const NO_STORE: &str = "no-store";

/// Value of `X-Content-Type-Options`.
pub const NO_SNIFF: &str = "nosniff";

/// Adds the headers to a response. A stream of events is not buffered by proxies. They replace the `no-cache` that libraries set for git and event streams, which allows
/// a cache to store them.
pub fn add(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static(NO_SNIFF));
    if headers.get(CACHE_CONTROL).is_none_or(|cache| cache != PUBLIC_CACHE) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(NO_STORE));
    }
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if kind.starts_with(b"text/event-stream") {
        headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    }
}
