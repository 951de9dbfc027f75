//! Server-sent events of a response.
//!
//! `sse-stream` parses them. It has no bound on an event, so this module adds one. `eventsource-stream` 0.2.3 was tried
//! first: it panics on a byte order mark, with which the tests here begin a stream.

use std::cell::Cell;
use std::error::Error;
use std::future::ready;
use std::rc::Rc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt};
use sse_stream::SseByteStream;

/// Maximum size of one event. Ten results of 20,000 characters (4 bytes each, escaped) with their stack traces stay
/// well below this.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// An event with its name, by default `message`.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedEvent {
    pub name: String,
    pub data: String,
}

#[derive(Debug, thiserror::Error)]
pub enum SseError<E: Error + 'static> {
    #[error("an event is longer than {EVENT_BYTES_MAX} bytes")]
    TooLong,
    #[error(transparent)]
    Transport(E),
    #[error("{0}")]
    Malformed(String),
}

/// The events of a byte stream, whatever the chunks they arrive in. An event without data or without its final empty
/// line is dropped, as the format demands.
pub fn read_events<E: Error + Send + Sync + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>>,
) -> impl Stream<Item = Result<NamedEvent, SseError<E>>> {
    // Bytes received since the last event.
    let pending = Rc::new(Cell::new(0_usize));
    let counted = pending.clone();
    let bounded = bytes.map(move |chunk| -> Result<Bytes, SseError<E>> {
        let chunk = chunk.map_err(SseError::Transport)?;
        counted.set(counted.get().saturating_add(chunk.len()));
        if counted.get() > EVENT_BYTES_MAX { Err(SseError::TooLong) } else { Ok(chunk) }
    });
    let events = SseByteStream::new(bounded).inspect_ok(move |_| pending.set(0)).map_err(recover_error::<E>);
    events.try_filter_map(|event| {
        let name = event.event.filter(|name| !name.is_empty()).unwrap_or_else(|| "message".to_owned());
        ready(Ok(event.data.map(|data| NamedEvent { name, data })))
    })
}

/// Recovers the error of the byte stream from the parser's.
fn recover_error<E: Error + 'static>(error: sse_stream::Error) -> SseError<E> {
    match error {
        sse_stream::Error::Body(cause) => match cause.downcast::<SseError<E>>() {
            Ok(error) => *error,
            Err(cause) => SseError::Malformed(cause.to_string()),
        },
        other => SseError::Malformed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream::iter;

    use super::*;

    const STREAM: &str = "\u{feff}: hello\nevent: step\ndata: {\"name\":\"bauen – ü\"}\n\nevent:log\r\ndata:  two\r\ndata\r\ndata: lines\r\n\r\nid: 4\rretry: 10\rdata: bare\r\revent: empty\n\nevent: done\ndata: {}\n\nevent: cut\ndata: off";

    const EXPECTED: [(&str, &str); 4] =
        [("step", "{\"name\":\"bauen – ü\"}"), ("log", " two\n\nlines"), ("message", "bare"), ("done", "{}")];

    async fn read(chunks: &[&[u8]]) -> Result<Vec<NamedEvent>, SseError<Infallible>> {
        let chunks = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk)));
        read_events(iter(chunks)).try_collect().await
    }

    async fn check(chunks: &[&[u8]]) {
        let events = read(chunks).await.expect("a valid stream");
        let expected = EXPECTED.map(|(name, data)| NamedEvent { name: name.to_owned(), data: data.to_owned() });
        assert_eq!(events, expected, "in {} chunks", chunks.len());
    }

    #[tokio::test]
    async fn a_whole_stream() {
        check(&[STREAM.as_bytes()]).await;
    }

    #[tokio::test]
    async fn split_at_any_byte() {
        for at in 0..=STREAM.len() {
            let (start, end) = STREAM.as_bytes().split_at(at);
            check(&[start, end]).await;
        }
    }

    #[tokio::test]
    async fn byte_by_byte_and_in_every_chunk_size() {
        for size in 1..20 {
            check(&STREAM.as_bytes().chunks(size).collect::<Vec<_>>()).await;
        }
    }

    #[tokio::test]
    async fn an_event_is_bounded_and_a_stream_is_not() {
        let half = vec![b'x'; EVENT_BYTES_MAX / 2];
        assert!(read(&[&half, &half]).await.is_ok());
        assert!(matches!(read(&[&half, &half, b"x"]).await, Err(SseError::TooLong)));
        let event = [b"data: ".as_slice(), &half[..EVENT_BYTES_MAX / 2 - 8], b"\n\n"].concat();
        assert_eq!(read(&[&event, &event, &event]).await.expect("three events").len(), 3);
    }

    #[tokio::test]
    async fn text_that_is_not_utf8_is_refused() {
        assert!(matches!(read(&[b"data: \xff\n\n"]).await, Err(SseError::Malformed(_))));
    }
}
