//! The forms of a response that a client accepts.

use std::pin::pin;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures_util::StreamExt as _;
use rmcp::model::ErrorCode;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sse_stream::SseByteStream;

use super::transport_refusal::{EVENTS, JSON, build_json_rpc_error};

/// Both forms of a response.
pub const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const NO_ANSWER: &str = "The stream of the response ended before the answer.";
const ASKS: &str = "The server has a question, which only a client that accepts text/event-stream can answer.";

/// The forms of a response to a message that a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    Both,
    /// One JSON object, without the notifications before it.
    Json,
    /// No form, or events only: the SDK refuses it.
    Neither,
}

impl Accepted {
    /// Reads the forms, and names both for the SDK, which requires that, unless it shall refuse the request. A client without the header
    /// accepts both (RFC 9110, section 12.5.1).
    pub fn read(headers: &mut HeaderMap) -> Self {
        let ranges: Vec<_> = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
        let is_accepted = |kind: &str, group: &str| {
            let ranges = ranges.iter().flat_map(|value| value.split(','));
            ranges.filter_map(parse_accepted_range).any(|range| range == kind || range == group || range == "*/*")
        };
        let has_header = headers.contains_key(ACCEPT);
        let accepted = match (is_accepted(JSON, "application/*"), is_accepted(EVENTS, "text/*")) {
            _ if !has_header => Self::Both,
            (true, true) => Self::Both,
            (true, false) => Self::Json,
            (false, _) => Self::Neither,
        };
        if accepted != Self::Neither {
            headers.insert(ACCEPT, BOTH);
        }
        accepted
    }
}

/// The media range of an element of the header, in small letters; `None` for one with the weight zero.
fn parse_accepted_range(element: &str) -> Option<String> {
    let mut parts = element.split(';').map(|part| part.trim().to_ascii_lowercase());
    let range = parts.next()?;
    let is_zero = |weight: &str| weight.parse::<f32>().is_ok_and(|weight| weight == 0.0);
    let is_refused = parts.any(|part| part.strip_prefix("q=").is_some_and(is_zero));
    (!is_refused).then_some(range)
}

/// Replaces the stream of a response by the answer that ends it, for a client that accepts JSON only. Notifications before it are left
/// out.
pub async fn replace_stream(response: Response, id: Option<&RawValue>) -> Response {
    let kind = response.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if !kind.starts_with(EVENTS.as_bytes()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let answer = read_answer(body).await.unwrap_or_else(|problem| {
        let mut refusal = build_json_rpc_error(ErrorCode::INTERNAL_ERROR, problem);
        refusal["id"] = json!(id);
        refusal.to_string()
    });
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(answer))
}

async fn read_answer(body: Body) -> Result<String, &'static str> {
    let mut events = pin!(SseByteStream::new(body.into_data_stream()));
    while let Some(event) = events.next().await {
        let data = event.map_err(|_| NO_ANSWER)?.data.unwrap_or_default();
        let Ok(message) = serde_json::from_str::<Value>(&data) else { continue };
        match (message.get("method").is_some(), message.get("id").is_some()) {
            (false, _) => return Ok(data),
            (true, true) => return Err(ASKS),
            (true, false) => {}
        }
    }
    Err(NO_ANSWER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_accept_what_their_header_says() {
        for (accept, expected) in [
            (None, Accepted::Both),
            (Some("*/*"), Accepted::Both),
            (Some("text/html, */*;q=0.1"), Accepted::Both),
            (Some("Application/JSON, text/event-stream"), Accepted::Both),
            (Some("application/json"), Accepted::Json),
            (Some("application/json;charset=utf-8"), Accepted::Json),
            (Some("application/*"), Accepted::Json),
            (Some("application/json, text/event-stream;q=0"), Accepted::Json),
            (Some("text/event-stream"), Accepted::Neither),
            (Some("application/json;q=0.0"), Accepted::Neither),
            (Some("text/html"), Accepted::Neither),
            (Some(""), Accepted::Neither),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(accept.map(|accept| (ACCEPT, HeaderValue::from_static(accept))));
            assert_eq!(Accepted::read(&mut headers), expected, "{accept:?}");
            let kept = accept.filter(|_| expected == Accepted::Neither).map(HeaderValue::from_static);
            assert_eq!(headers[ACCEPT], kept.unwrap_or(BOTH), "{accept:?}");
        }
    }

    #[tokio::test]
    async fn the_answer_replaces_the_stream() {
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let question = r#"{"jsonrpc":"2.0","id":0,"method":"elicitation/create"}"#;
        for (events, expected) in [
            (vec!["", notification, answer], answer.to_owned()),
            (
                vec![question, answer],
                json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": ASKS}}).to_string(),
            ),
            (vec![], json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": NO_ANSWER}}).to_string()),
        ] {
            let text: String = events.iter().map(|data| format!("id: 1\ndata: {data}\n\n")).collect();
            let mut response = Response::new(Body::from(text));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
            let id = RawValue::from_string("1".to_owned()).unwrap();
            let response = replace_stream(response, Some(&id)).await;
            assert_eq!(response.headers()[CONTENT_TYPE], JSON);
            let body = axum::body::to_bytes(response.into_body(), 1_000).await.unwrap();
            let body = String::from_utf8(body.to_vec()).unwrap();
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            assert_eq!(read(&body), read(&expected));
        }
    }
}
