//! Event streams as every reader of lines reads them.
//!
//! The data of events is JSON, which may have characters that the format of events does not take for ends of lines and some
//! readers do. Such a reader would cut an event in two.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Frame;
use registry::json_line;

/// Escapes the characters in a stream of events. Other responses stay as they are.
pub async fn escape_lines(response: Response) -> Response {
    let kind = response.headers().get(CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    response.map(|body| Body::new(body.map_frame(|frame: Frame<Bytes>| frame.map_data(escape))))
}

/// A frame has whole events, so no character is divided.
fn escape(data: Bytes) -> Bytes {
    let escaped = std::str::from_utf8(&data).ok().map(json_line).and_then(|line| match line {
        Cow::Owned(escaped) => Some(escaped),
        Cow::Borrowed(_) => None,
    });
    escaped.map_or(data, Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn send_event(kind: &str, data: &'static str) -> String {
        let response = Response::builder().header(CONTENT_TYPE, kind).body(Body::from(data)).unwrap();
        let body = escape_lines(response).await.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn an_event_is_one_line_for_every_reader() {
        let data = "data: \"a\u{2028}b\u{85}c\u{2029}d é\"\n\n";
        assert_eq!(send_event("text/event-stream", data).await, "data: \"a\\u2028b\\u0085c\\u2029d é\"\n\n");
        assert_eq!(send_event("text/plain; charset=utf-8", data).await, data);
    }
}
