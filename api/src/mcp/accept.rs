//! The `Accept` header of clients that accept anything.

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue};

/// Both forms of a response.
pub(super) const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Names both forms of a response for a client that names none (RFC 9110, 12.5.1): `*/*`, which many clients send unasked,
/// and no header at all.
pub(super) fn complete(headers: &mut HeaderMap) {
    let accepts_anything = headers.get(ACCEPT).is_none_or(|accept| accept == "*/*");
    if accepts_anything {
        headers.insert(ACCEPT, BOTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_that_accepts_anything_gets_both_forms() {
        for (accept, expected) in [
            (None, "application/json, text/event-stream"),
            (Some("*/*"), "application/json, text/event-stream"),
            (Some("application/json"), "application/json"),
            (Some("text/html, */*;q=0.1"), "text/html, */*;q=0.1"),
            (Some(""), ""),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(accept.map(|accept| (ACCEPT, HeaderValue::from_static(accept))));
            complete(&mut headers);
            assert_eq!(headers[ACCEPT], expected, "{accept:?}");
        }
    }
}
