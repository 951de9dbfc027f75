//! The response mode that a client asks for: plain, as a stream, or asynchronous.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, HeaderName};

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The response mode of `Accept` and `Prefer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseMode {
    Plain,
    Stream,
    /// The response is 202 immediately; the client queries the operation later.
    Async,
}

impl ResponseMode {
    /// A stream takes precedence over `respond-async`: `Accept` is what the client can read, `Prefer` what it would like.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        if has(headers, &ACCEPT, "text/event-stream") {
            Self::Stream
        } else if has(headers, &PREFER, "respond-async") {
            Self::Async
        } else {
            Self::Plain
        }
    }
}

/// Whether a list in these headers has an entry, with any parameters.
fn has(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|entry| {
        let entry = entry.split(';').next().unwrap_or_default();
        entry.trim().eq_ignore_ascii_case(wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[(HeaderName, &'static str)]) -> ResponseMode {
        let given = given.iter().map(|(name, value)| (name.clone(), axum::http::HeaderValue::from_static(value)));
        ResponseMode::of(&HeaderMap::from_iter(given))
    }

    #[test]
    fn the_mode_is_read_from_lists_in_any_case() {
        assert_eq!(of(&[]), ResponseMode::Plain);
        assert_eq!(of(&[(ACCEPT, "application/json"), (PREFER, "return=minimal, wait=5")]), ResponseMode::Plain);
        assert_eq!(of(&[(PREFER, "wait=10, Respond-Async; x=1")]), ResponseMode::Async);
        assert_eq!(of(&[(PREFER, "respond-asynchronously")]), ResponseMode::Plain);
        assert_eq!(of(&[(ACCEPT, "application/json;q=0.5, Text/Event-Stream;q=1")]), ResponseMode::Stream);
        assert_eq!(of(&[(ACCEPT, "text/event-stream"), (PREFER, "respond-async")]), ResponseMode::Stream);
    }
}
