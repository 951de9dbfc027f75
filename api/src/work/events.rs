//! Server-sent events: what happens on the way (`step`, `log`, `status`), the outcome (`result` or `error`), `done`.
//!
//! A client that reads too slowly does not hold the work up: what does not fit into the buffer is left out, and
//! `done` says how many events that were.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::poll_fn;
use futures_util::{FutureExt, Stream, StreamExt};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::task::coop::unconstrained;

use super::Answer;

/// Events that wait for a slow client; a build log in a burst fits.
pub(super) const BUFFERED_MAX: usize = 512;

/// Below the idle limits of common proxies.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// A client that takes nothing for this long after the work ended is gone.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// One event: its name and its data as JSON.
pub(crate) struct Event {
    name: &'static str,
    data: String,
}

impl Event {
    pub(crate) fn new(name: &'static str, data: &impl Serialize) -> Option<Self> {
        serde_json::to_string(data).ok().map(|data| Self { name, data })
    }
}

/// Where events of one request go; nowhere when the client wants a plain answer.
#[derive(Clone)]
pub(crate) struct Events {
    sender: Option<Sender<Event>>,
    left_out: Arc<AtomicU64>,
}

impl Events {
    pub(super) fn none() -> Self {
        Self { sender: None, left_out: Arc::default() }
    }

    pub(super) fn to(sender: Sender<Event>) -> Self {
        Self { sender: Some(sender), left_out: Arc::default() }
    }

    /// Whether somebody may read them.
    pub(crate) const fn are_heard(&self) -> bool {
        self.sender.is_some()
    }

    /// Sends an event if there is room and somebody to read it; otherwise it is not even rendered.
    fn send(&self, event: impl FnOnce() -> Option<Event>) {
        let Some(sender) = &self.sender else { return };
        let Some(event) = event() else { return };
        if sender.try_send(event).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Some did not even come here.
    pub(crate) fn leave_out(&self, count: u64) {
        self.left_out.fetch_add(count, Ordering::Relaxed);
    }

    /// Waits for `work` and sends what happens meanwhile.
    pub(crate) async fn pass_on<W: Future, T>(
        &self,
        work: W,
        mut happening: impl Stream<Item = T> + Unpin,
        rendered: impl Fn(T) -> Option<Event>,
    ) -> W::Output {
        let mut work = pin!(work);
        let outcome = loop {
            tokio::select! {
                biased;
                Some(item) = happening.next() => self.send(|| rendered(item)),
                outcome = &mut work => break outcome,
            }
        };
        // Otherwise the runtime, which wants other tasks to have their turn, makes what is there look as if it were not.
        while let Some(Some(item)) = unconstrained(happening.next()).now_or_never() {
            self.send(|| rendered(item));
        }
        outcome
    }

    /// Sends the outcome and the end.
    pub(super) async fn end(self, answer: &Answer) {
        let Some(sender) = self.sender else { return };
        let done = match self.left_out.load(Ordering::Relaxed) {
            0 => json!({}),
            count => json!({ "events_left_out": count }),
        };
        for event in [outcome(answer), Event { name: "done", data: done.to_string() }] {
            if sender.send_timeout(event, END_TIME_MAX).await.is_err() {
                return;
            }
        }
    }
}

/// The stream of what arrives, with a comment as heartbeat while nothing does.
pub(super) fn response(receiver: Receiver<Event>) -> Response {
    beating(receiver, HEARTBEAT)
}

fn beating(mut receiver: Receiver<Event>, heartbeat: Duration) -> Response {
    let events = poll_fn(move |context| receiver.poll_recv(context));
    let events = events.map(|Event { name, data }| Ok::<_, Infallible>(sse::Event::default().event(name).data(data)));
    Sse::new(events).keep_alive(KeepAlive::new().interval(heartbeat)).into_response()
}

/// A refusal has its status beside what it says.
fn outcome(answer: &Answer) -> Event {
    if answer.status.is_success() {
        return Event { name: "result", data: answer.body.clone() };
    }
    let said: Map<String, Value> = serde_json::from_str(&answer.body).unwrap_or_default();
    let mut data = Map::from_iter([("status".to_owned(), Value::from(answer.status.as_u16()))]);
    data.extend(said);
    Event { name: "error", data: Value::Object(data).to_string() }
}

/// The stream of a client that reads when the work is done.
#[cfg(test)]
pub(crate) async fn streamed(work: impl AsyncFnOnce(Events) -> Result<Answer, crate::error::Error>) -> String {
    use http_body_util::BodyExt;

    let (sender, receiver) = tokio::sync::mpsc::channel(BUFFERED_MAX);
    let events = Events::to(sender);
    let answer = Answer::of(work(events.clone()).await, &crate::request_id::RequestId::for_tests());
    events.end(&answer).await;
    let body = response(receiver).into_body().collect().await.map(http_body_util::Collected::to_bytes);
    body.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::BodyExt;
    use tokio::sync::mpsc;

    use super::*;
    use crate::error::Error;
    use crate::request_id::RequestId;

    fn number(value: u32) -> Option<Event> {
        Event::new("status", &value)
    }

    #[tokio::test]
    async fn what_happens_comes_before_the_outcome() {
        let (sender, receiver) = mpsc::channel(BUFFERED_MAX);
        let events = Events::to(sender);
        let outcome = events.pass_on(async { Answer::ok(&"body") }, stream::iter([1, 2]), number).await;
        events.end(&Answer::of(outcome, &RequestId::for_tests())).await;
        let body = response(receiver).into_body().collect().await.unwrap().to_bytes();
        let expected = "event: status\ndata: 1\n\nevent: status\ndata: 2\n\nevent: result\ndata: \"body\"\n\n\
            event: done\ndata: {}\n\n";
        assert_eq!(body, expected);
    }

    #[tokio::test]
    async fn a_silent_stream_shows_that_it_lives() {
        let (sender, receiver) = mpsc::channel(1);
        let mut body = beating(receiver, Duration::from_millis(1)).into_body();
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
    async fn a_slow_client_loses_events_and_is_told_how_many() {
        let (sender, receiver) = mpsc::channel(2);
        let events = Events::to(sender);
        let outcome = events.pass_on(async { Err(Error::NotFound) }, stream::iter(0..5), number).await;
        let answer = Answer::of(outcome, &RequestId::for_tests());
        let ended = tokio::spawn(async move { events.end(&answer).await });
        let body = response(receiver).into_body().collect().await.unwrap().to_bytes();
        ended.await.unwrap();
        let text = std::str::from_utf8(&body).unwrap();
        assert_eq!(text.matches("event: status").count(), 2);
        assert!(text.contains(r#"event: error"#) && text.contains(r#""status":404"#), "{text}");
        assert!(text.ends_with("event: done\ndata: {\"events_left_out\":3}\n\n"), "{text}");
    }
}
