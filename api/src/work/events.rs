//! Server-sent events: the events of the work (`step`, `log`, `status`), the outcome (`result` or `error`), and `done`.
//!
//! A slow client does not delay the work: events that do not fit into the buffer are dropped, and `done` has their number.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use api_kit::request_identity::RequestIdentity;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::poll_fn;
use futures_util::{FutureExt, Stream, StreamExt};
use runner::RunResult;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::coop::unconstrained;

use super::FinalResponse;

/// Events queued for a slow client. A burst of a build log fits.
pub(super) const BUFFERED_MAX: usize = 512;

/// Interval of heartbeats. Shorter than the idle timeouts of common proxies.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Time that a client has to read the last events after the work ended.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// The name and the JSON data of an event.
pub(crate) struct Event {
    name: &'static str,
    data: String,
}

impl Event {
    pub(crate) fn new(name: &'static str, data: &impl Serialize) -> Option<Self> {
        serde_json::to_string(data).ok().map(|data| Self { name, data })
    }
}

/// The sender of the events of a request. Without a reader it drops them.
#[derive(Clone)]
pub(crate) struct Events {
    sender: Option<Sender<Event>>,
    dropped: Arc<AtomicU64>,
    /// Receives the ids of the runs, for the request log.
    request: RequestIdentity,
}

impl Events {
    pub(crate) fn none() -> Self {
        Self { sender: None, dropped: Arc::default(), request: RequestIdentity::default() }
    }

    pub(super) fn to(sender: Sender<Event>) -> Self {
        Self { sender: Some(sender), ..Self::none() }
    }

    /// The events of a request.
    pub(super) fn of(self, request: RequestIdentity) -> Self {
        Self { request, ..self }
    }

    /// Notes the runs of the work, and how they ended.
    pub(crate) fn note_results(&self, results: &[RunResult]) {
        self.request.set_results(results);
    }

    /// Whether the client reads the events.
    pub(crate) const fn has_reader(&self) -> bool {
        self.sender.is_some()
    }

    /// Sends an event when the buffer has space. Without a reader the event is not rendered.
    fn send(&self, event: impl FnOnce() -> Option<Event>) {
        let Some(sender) = &self.sender else { return };
        let Some(event) = event() else { return };
        if sender.try_send(event).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts events that were dropped before they reached this sender.
    pub(crate) fn count_dropped(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Waits for `work` and sends the items of the stream meanwhile.
    pub(crate) async fn forward<W: Future + Unpin, T>(
        &self,
        mut work: W,
        mut items: impl Stream<Item = T> + Unpin,
        rendered: impl Fn(T) -> Option<Event>,
    ) -> W::Output {
        let outcome = loop {
            tokio::select! {
                biased;
                Some(item) = items.next() => self.send(|| rendered(item)),
                outcome = &mut work => break outcome,
            }
        };
        // Within its cooperative budget, the runtime would report a ready item as pending.
        while let Some(Some(item)) = unconstrained(items.next()).now_or_never() {
            self.send(|| rendered(item));
        }
        outcome
    }

    /// Sends the outcome and `done`.
    pub(super) async fn end(self, answer: &FinalResponse) {
        let Some(sender) = self.sender else { return };
        let done = match self.dropped.load(Ordering::Relaxed) {
            0 => json!({}),
            count => json!({ "events_left_out": count }),
        };
        for event in [build_outcome(answer), Event { name: "done", data: done.to_string() }] {
            if sender.send_timeout(event, END_TIME_MAX).await.is_err() {
                return;
            }
        }
    }
}

/// A response that streams the events, with a comment as heartbeat when there are none.
pub(super) fn stream_response(receiver: Receiver<Event>) -> Response {
    stream_with_heartbeat(receiver, HEARTBEAT)
}

fn stream_with_heartbeat(mut receiver: Receiver<Event>, heartbeat: Duration) -> Response {
    let events = poll_fn(move |context| receiver.poll_recv(context));
    let events = events.map(|Event { name, data }| Ok::<_, Infallible>(sse::Event::default().event(name).data(data)));
    Sse::new(events).keep_alive(KeepAlive::new().interval(heartbeat)).into_response()
}

/// The data of an error has the status and the fields of the refusal.
fn build_outcome(answer: &FinalResponse) -> Event {
    if answer.status.is_success() {
        return Event { name: "result", data: answer.body.clone() };
    }
    let refusal: Map<String, Value> = serde_json::from_str(&answer.body).unwrap_or_default();
    let mut data = Map::from_iter([("status".to_owned(), Value::from(answer.status.as_u16()))]);
    data.extend(refusal);
    Event { name: "error", data: Value::Object(data).to_string() }
}

/// The stream as a client reads it after the end of the work.
#[cfg(test)]
pub(crate) async fn stream_to_end(
    work: impl AsyncFnOnce(Events) -> Result<FinalResponse, api_kit::error::Error>,
) -> String {
    use http_body_util::BodyExt;

    let (sender, receiver) = tokio::sync::mpsc::channel(BUFFERED_MAX);
    let events = Events::to(sender);
    let answer = FinalResponse::of(work(events.clone()).await, &api_kit::request_id::RequestId::for_tests());
    events.end(&answer).await;
    let body = stream_response(receiver).into_body().collect().await.map(http_body_util::Collected::to_bytes);
    body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use api_kit::error::Error;
    use api_kit::request_id::RequestId;
    use futures_util::stream;
    use http_body_util::BodyExt;
    use tokio::sync::mpsc;

    use super::*;

    fn build_number(value: u32) -> Option<Event> {
        Event::new("status", &value)
    }

    #[tokio::test]
    async fn events_precede_the_outcome() {
        let (sender, receiver) = mpsc::channel(BUFFERED_MAX);
        let events = Events::to(sender);
        let outcome =
            events.forward(Box::pin(async { FinalResponse::ok(&"body") }), stream::iter([1, 2]), build_number).await;
        events.end(&FinalResponse::of(outcome, &RequestId::for_tests())).await;
        let body = stream_response(receiver).into_body().collect().await.unwrap().to_bytes();
        let expected = "event: status\ndata: 1\n\nevent: status\ndata: 2\n\nevent: result\ndata: \"body\"\n\n\
            event: done\ndata: {}\n\n";
        assert_eq!(body, expected);
    }

    #[tokio::test]
    async fn a_stream_without_events_sends_heartbeats() {
        let (sender, receiver) = mpsc::channel(1);
        let mut body = stream_with_heartbeat(receiver, Duration::from_millis(1)).into_body();
        for _ in 0..3 {
            let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(frame.starts_with(b":") && frame.ends_with(b"\n\n"), "{frame:?}");
        }
        drop(sender);
        while let Some(frame) = body.frame().await {
            assert!(frame.unwrap().into_data().unwrap().starts_with(b":"));
        }
    }

    #[tokio::test]
    async fn a_slow_client_loses_events_and_gets_their_number() {
        let (sender, receiver) = mpsc::channel(2);
        let events = Events::to(sender);
        let outcome = events.forward(Box::pin(async { Err(Error::NotFound) }), stream::iter(0..5), build_number).await;
        let answer = FinalResponse::of(outcome, &RequestId::for_tests());
        let ended = tokio::spawn(async move { events.end(&answer).await });
        let body = stream_response(receiver).into_body().collect().await.unwrap().to_bytes();
        ended.await.unwrap();
        let text = std::str::from_utf8(&body).unwrap();
        assert_eq!(text.matches("event: status").count(), 2);
        assert!(text.contains(r#"event: error"#) && text.contains(r#""status":404"#), "{text}");
        assert!(text.ends_with("event: done\ndata: {\"events_left_out\":3}\n\n"), "{text}");
    }
}
