//! Headers of every answer, also of refusals, streams and git's answers. No cache of a browser or a proxy stores an answer
//! that needed credentials, and no browser guesses the type of an answer.

use axum::http::header::{CACHE_CONTROL, HeaderMap, HeaderValue, X_CONTENT_TYPE_OPTIONS};

/// `Cache-Control` of public answers, which are the same for all clients until the program is replaced.
pub(crate) const PUBLIC_CACHE: &str = "max-age=300";

/// `Cache-Control` of all other answers.
pub(crate) const NO_STORE: &str = "no-store";

/// Value of `X-Content-Type-Options`.
pub(crate) const NO_SNIFF: &str = "nosniff";

/// Adds the headers to an answer. They replace the `no-cache` that libraries set for git and event streams, which allows
/// a cache to store them.
pub(crate) fn add(headers: &mut HeaderMap) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static(NO_SNIFF));
    if headers.get(CACHE_CONTROL).is_none_or(|cache| cache != PUBLIC_CACHE) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(NO_STORE));
    }
}
