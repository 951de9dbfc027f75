//! A request's body that must not arrive too slowly. Only time in which the server waits for the client counts, so
//! that a handler may take as long as it wants to read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::Instant;

use super::limits::BodyLimits;
use super::seats::Seat;
use super::timer::Timer;

/// Why a body ended before its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the body arrived too slowly")]
    TooSlow,
    #[error(transparent)]
    CutOff(#[from] hyper::Error),
}

pub(super) struct TimedBody {
    inner: Incoming,
    seat: Arc<Seat>,
    patience: Patience,
    waiting: Option<Instant>,
    deadline: Option<Timer>,
    is_over: bool,
}

impl TimedBody {
    pub(super) fn new(inner: Incoming, limits: BodyLimits, seat: Arc<Seat>) -> Self {
        seat.set_owes_body(!inner.is_end_stream());
        let patience = Patience { limits, bytes: 0, waited: Duration::ZERO };
        Self { inner, seat, patience, waiting: None, deadline: None, is_over: false }
    }

    /// Waits on, or finds that it has been long enough.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline.get_or_insert_with(|| self.seat.take_timer());
        self.waiting.get_or_insert_with(|| {
            deadline.start(self.patience.left());
            Instant::now()
        });
        deadline.poll(context)
    }

    fn note(&mut self, frame: Option<&Frame<Bytes>>) {
        if let Some(since) = self.waiting.take() {
            self.patience.waited += since.elapsed();
        }
        match frame {
            Some(frame) => self.patience.bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            None => self.seat.set_owes_body(false),
        }
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(context) else {
            ready!(self.poll_patience(context));
            self.is_over = true;
            return Poll::Ready(Some(Err(BodyError::TooSlow)));
        };
        match frame.transpose() {
            Ok(frame) => {
                self.note(frame.as_ref());
                Poll::Ready(frame.map(Ok))
            }
            Err(error) => {
                self.is_over = true;
                Poll::Ready(Some(Err(error.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for TimedBody {
    fn drop(&mut self) {
        if let Some(timer) = self.deadline.take() {
            self.seat.keep_timer(timer);
        }
    }
}

/// How long a client may still keep the server waiting.
struct Patience {
    limits: BodyLimits,
    bytes: u64,
    waited: Duration,
}

impl Patience {
    /// Until the first of three ends: of silence, of the whole time, and of the time that its bytes have earned.
    fn left(&self) -> Duration {
        let BodyLimits { silence_max, time_max, bytes_per_second_min, grace } = self.limits;
        let earned_ms = self.bytes.saturating_mul(1_000) / u64::from(bytes_per_second_min.max(1));
        let earned = grace.saturating_add(Duration::from_millis(earned_ms));
        silence_max.min(time_max.min(earned).saturating_sub(self.waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_earn_time_up_to_the_whole() {
        let check = |bytes, waited, expect| {
            let patience = Patience { limits: BodyLimits::JSON, bytes, waited: Duration::from_secs(waited) };
            assert_eq!(patience.left(), Duration::from_secs(expect), "{bytes} bytes in {waited} s");
        };
        check(0, 0, 10);
        check(0, 9, 1);
        check(1, 10, 0);
        check(5 * 1024, 10, 5);
        check(1024 * 1024, 20, 10);
        check(1024 * 1024, 55, 5);
        check(1024 * 1024, 61, 0);
    }
}
