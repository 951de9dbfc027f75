//! In which manner a client wants its answer: whole, as a stream, or later.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, HeaderName};

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// What `Accept` and `Prefer` ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Whole,
    Stream,
    /// 202 at once; the answer is asked for later.
    Later,
}

impl Manner {
    /// A stream wins over `respond-async`: one says what the client can read, the other what it would like.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        if has(headers, &ACCEPT, "text/event-stream") {
            Self::Stream
        } else if has(headers, &PREFER, "respond-async") {
            Self::Later
        } else {
            Self::Whole
        }
    }
}

/// Whether a list in these headers has an entry, whatever its parameters.
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

    fn of(given: &[(HeaderName, &'static str)]) -> Manner {
        let given = given.iter().map(|(name, value)| (name.clone(), axum::http::HeaderValue::from_static(value)));
        Manner::of(&HeaderMap::from_iter(given))
    }

    #[test]
    fn the_manner_is_read_from_lists_in_any_spelling() {
        assert_eq!(of(&[]), Manner::Whole);
        assert_eq!(of(&[(ACCEPT, "application/json"), (PREFER, "return=minimal, wait=5")]), Manner::Whole);
        assert_eq!(of(&[(PREFER, "wait=10, Respond-Async; x=1")]), Manner::Later);
        assert_eq!(of(&[(PREFER, "respond-asynchronously")]), Manner::Whole);
        assert_eq!(of(&[(ACCEPT, "application/json;q=0.5, Text/Event-Stream;q=1")]), Manner::Stream);
        assert_eq!(of(&[(ACCEPT, "text/event-stream"), (PREFER, "respond-async")]), Manner::Stream);
    }
}
