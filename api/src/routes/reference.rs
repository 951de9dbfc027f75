//! The HTTP reference as pages: the OpenAPI document and the error codes. The binary has all files of the pages.

pub(crate) mod assets;
pub(crate) mod errors;
mod markdown;
pub(crate) mod page;

use api_kit::response_headers::{NO_SNIFF, PUBLIC_CACHE};
use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};

type Headers = [(HeaderName, &'static str); 5];

/// The headers of a page or an asset. A browser loads only the sources that the policy names: scripts and requests from
/// this server alone, so that no script can send data to another host.
const fn build_headers(content_type: &'static str, policy: &'static str) -> Headers {
    [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, NO_SNIFF),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, PUBLIC_CACHE),
    ]
}
