//! Headers that a request has once.

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, HeaderValue};

/// The value of a header that is there once: others on the way may have read another one of several.
pub fn find_sole<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}
