//! The empty event at the beginning of a stream, with the id from which a client resumes it. Clients of versions before it take its data for a
//! message, and report an error for each stream.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde::Deserialize;

use super::transport_refusal::EVENTS;

/// The first version of the protocol with empty events.
const SINCE: &str = "2025-11-25";

/// The first message of a session.
#[derive(Deserialize)]
struct FirstMessage {
    params: FirstParameters,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstParameters {
    protocol_version: String,
}

/// Whether a client knows empty events, by the version in its header or in the message that begins its session. Clients of 2025-03-26 have no
/// header.
pub fn knows_empty_events(version: Option<&HeaderValue>, first_message: Option<&[u8]>) -> bool {
    if let Some(version) = version {
        return version.as_bytes() >= SINCE.as_bytes();
    }
    let message = first_message.and_then(|body| serde_json::from_slice::<FirstMessage>(body).ok());
    message.is_some_and(|message| message.params.protocol_version.as_str() >= SINCE)
}

/// Leaves out the empty events of a stream.
pub fn drop_empty_events(response: Response) -> Response {
    if !is_stream(response.headers()) {
        return response;
    }
    // The SDK writes each event as one frame.
    let full = |event: Bytes| if is_empty(&event) { Bytes::new() } else { event };
    response.map(|body| Body::new(body.map_frame(move |frame| frame.map_data(full))))
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes()))
}

fn is_empty(event: &[u8]) -> bool {
    let mut data = event.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:")).peekable();
    data.peek().is_some() && data.all(|text| text.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_tells_whether_a_client_knows_empty_events() {
        let first = |version: &str| format!(r#"{{"method":"initialize","params":{{"protocolVersion":"{version}"}}}}"#);
        for (version, expected) in
            [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", false), (SINCE, true), ("2026-07-28", true)]
        {
            assert_eq!(knows_empty_events(None, Some(first(version).as_bytes())), expected, "{version}");
            let header = HeaderValue::from_str(version).unwrap();
            assert_eq!(knows_empty_events(Some(&header), None), expected, "{version}");
        }
        assert!(!knows_empty_events(None, None) && !knows_empty_events(None, Some(b"{}")));
    }

    #[test]
    fn an_event_without_data_is_empty() {
        for (event, expected) in [
            ("data: \nid: 0\nretry: 3000\n\n", true),
            ("id: 0\ndata:\n\n", true),
            ("data: {}\nid: 0\n\n", false),
            (":\n\n", false),
            ("", false),
        ] {
            assert_eq!(is_empty(event.as_bytes()), expected, "{event:?}");
        }
    }
}
