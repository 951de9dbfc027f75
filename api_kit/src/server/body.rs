//! A request's body that must not arrive too slowly. Only time in which the server waits for the client counts, so
//! that a handler may take as long as it wants to read.
//!
//! tower-http's `TimeoutBody` bounds the silence between two frames, which a client that sends a byte now and then keeps
//! up for ever (`a_dripping_body_is_a_408` in `api/tests/it/slow.rs`).

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::FutureExt;
use futures_util::stream::try_unfold;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use tokio::time::{Instant, timeout};

use super::limiter::{Activity, Event};
use super::limits::BodyLimits;
use super::stalled_share::share_stalled_time;

/// Why a body ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the body arrived too slowly")]
    TooSlow,
    #[error(transparent)]
    CutOff(#[from] hyper::Error),
}

/// Bounds the time that the client may take for a body.
pub(super) fn time_body(inner: Incoming, limits: BodyLimits, activity: Activity) -> Body {
    activity.report(Event::BodyOwed(!inner.is_end_stream()));
    if inner.is_end_stream() {
        return Body::empty();
    }
    let progress = BodyProgress { limits, bytes: 0, waited: Duration::ZERO };
    Body::new(StreamBody::new(try_unfold(TimedBody { inner, activity, progress }, |mut body| async move {
        Ok::<_, BodyError>(body.read_frame().await?.map(|frame| (frame, body)))
    })))
}

struct TimedBody {
    inner: Incoming,
    activity: Activity,
    progress: BodyProgress,
}

impl TimedBody {
    async fn read_frame(&mut self) -> Result<Option<Frame<Bytes>>, BodyError> {
        let frame = match self.inner.frame().now_or_never() {
            Some(frame) => frame,
            None => self.wait().await?,
        };
        let frame = frame.transpose()?;
        self.progress.bytes += frame.as_ref().and_then(Frame::data_ref).map_or(0, |data| data.len() as u64);
        if frame.is_none() || self.inner.is_end_stream() {
            self.activity.report(Event::BodyOwed(false));
        }
        Ok(frame)
    }

    async fn wait(&mut self) -> Result<Option<hyper::Result<Frame<Bytes>>>, BodyError> {
        let began = Instant::now();
        let _wait = BodyWait::begin(&self.activity);
        let time = self.progress.left(self.activity.sharing());
        let frame = timeout(time, self.inner.frame()).await.map_err(|_| BodyError::TooSlow)?;
        self.progress.waited += began.elapsed();
        Ok(frame)
    }
}

/// The server waits for bytes of a body, until this value is dropped.
struct BodyWait<'a>(&'a Activity);

impl<'a> BodyWait<'a> {
    fn begin(activity: &'a Activity) -> Self {
        activity.report(Event::BodyAwaited(true));
        Self(activity)
    }
}

impl Drop for BodyWait<'_> {
    fn drop(&mut self) {
        self.0.report(Event::BodyAwaited(false));
    }
}

/// The bytes of a body so far, and the time that the server has waited for them.
struct BodyProgress {
    limits: BodyLimits,
    bytes: u64,
    waited: Duration,
}

impl BodyProgress {
    /// Returns the time left: the minimum of the silence timeout, the total timeout and the time allowed by the minimum
    /// rate. `stalled` connections of the address share the silence timeout.
    fn left(&self, stalled: usize) -> Duration {
        let BodyLimits { silence_max, time_max, bytes_per_second_min, grace } = self.limits;
        let earned_ms = self.bytes.saturating_mul(1_000) / u64::from(bytes_per_second_min.max(1));
        let earned = grace.saturating_add(Duration::from_millis(earned_ms));
        share_stalled_time(silence_max, stalled).min(time_max.min(earned).saturating_sub(self.waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_earn_time_up_to_the_whole() {
        let check = |bytes, waited, expect| {
            let progress = BodyProgress { limits: BodyLimits::JSON, bytes, waited: Duration::from_secs(waited) };
            assert_eq!(progress.left(1), Duration::from_secs(expect), "{bytes} bytes in {waited} s");
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
