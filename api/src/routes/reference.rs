//! The reference for people: the document as a page, and the page of error codes. All of it comes from the binary.

pub(crate) mod assets;
pub(crate) mod errors;
mod markdown;
pub(crate) mod page;

use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

/// Pages and assets change with the binary only, which may be replaced at any time.
const CACHE: &str = "max-age=300";

type Headers = [(HeaderName, &'static str); 5];

/// Headers of a page or an asset. What the policy does not name, a browser does not load: scripts and requests only
/// from here, and nothing else that could carry data away.
const fn headers(content_type: &'static str, policy: &'static str) -> Headers {
    [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, CACHE),
    ]
}
