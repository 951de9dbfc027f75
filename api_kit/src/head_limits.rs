//! Bounds of a request line and its headers. A request beyond them is refused with a body that says so, as is a request
//! beyond hyper's own bounds (100 headers, 64 KiB in all) and one that is not HTTP.

use axum::extract::Request;
use axum::http::HeaderMap;

use crate::error::Error;

/// Length of path and query. Twenty ids and twenty tags, percent-encoded, take half of it; proxies seldom accept more.
const URI_BYTES_MAX: usize = 8 * 1024;

/// Headers of a request. Clients send about a dozen.
const HEADERS_MAX: usize = 64;

/// Size of all header names and values. A browser behind a proxy with large cookies sends a few KiB.
const HEADERS_BYTES_MAX: usize = 32 * 1024;

/// Refuses a request whose request line or headers are too large.
pub fn check(request: &Request) -> Result<(), Error> {
    let uri = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if uri > URI_BYTES_MAX {
        return Err(Error::UriTooLong { bytes_max: URI_BYTES_MAX });
    }
    if request.headers().len() > HEADERS_MAX || count_header_bytes(request.headers()) > HEADERS_BYTES_MAX {
        return Err(Error::HeadersTooLarge { headers_max: HEADERS_MAX, bytes_max: HEADERS_BYTES_MAX });
    }
    Ok(())
}

impl Error {
    /// Returns the refusal of bytes that hyper or [`crate::server`] refused with this status before they were a request.
    pub fn no_request(status: u16) -> Self {
        match status {
            414 => Self::UriTooLong { bytes_max: URI_BYTES_MAX },
            431 => Self::HeadersTooLarge { headers_max: HEADERS_MAX, bytes_max: HEADERS_BYTES_MAX },
            _ => Self::Malformed,
        }
    }
}

fn count_header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}
