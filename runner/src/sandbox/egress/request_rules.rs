//! The methods and headers that tools may send.

use hyper::Method;

/// Headers of the connection, which the host sets. A tool's value is dropped.
pub const DROPPED_HEADERS: [&str; 6] =
    ["connection", "te", "trailer", "keep-alive", "proxy-connection", "http2-settings"];
/// Headers that would change the framing or the recipient of a request. Some servers read `_` as `-`.
pub const REFUSED_HEADERS: [&str; 6] =
    ["transfer-encoding", "upgrade", "expect", "proxy-authorization", "transfer_encoding", "content_length"];
/// Methods that tools may send. Other methods open tunnels, return headers that the host added, or are not HTTP.
pub const METHODS: [Method; 7] =
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS];

/// Returns whether tools may use an HTTP method.
pub fn is_allowed_method(method: &str) -> bool {
    METHODS.iter().any(|allowed| allowed.as_str() == method)
}
