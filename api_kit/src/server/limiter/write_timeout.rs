//! The timeout of a client that reads its response slowly. Only time in which the socket accepts no bytes counts, so that
//! a response may be produced slowly, such as a stream of events.
//!
//! Waiting uses up the time of a connection, and each byte that the client reads gives some of it back. An average over
//! the response would not do: the buffers on the way take megabytes at once, which would earn the client hours.

use std::time::Duration;

use tokio::time::Instant;

use crate::server::limits::ConnectionLimits;
use crate::server::stalled_share::share_stalled_time;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteTimeout {
    used: Duration,
    pub(super) blocked_since: Option<Instant>,
}

impl WriteTimeout {
    pub(super) fn note_blocked(&mut self, now: Instant) {
        self.blocked_since.get_or_insert(now);
    }

    pub(super) fn note_written(&mut self, bytes: usize, now: Instant, limits: &ConnectionLimits) {
        let waited = self.blocked_since.take().map(|since| now.duration_since(since)).unwrap_or_default();
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let rate = u64::from(limits.response_bytes_per_second_min.max(1));
        let earned = Duration::from_micros(bytes.saturating_mul(1_000_000) / rate);
        self.used = self.used.saturating_add(waited).min(limits.response_silence_max).saturating_sub(earned);
    }

    /// Whether the client has kept the server waiting for too long; `stalled` connections share the time of its address.
    pub(super) fn is_over(&self, now: Instant, limits: &ConnectionLimits, stalled: usize) -> bool {
        let left = limits.response_silence_max.saturating_sub(self.used);
        let time_max = left.min(share_stalled_time(limits.response_silence_max, stalled));
        self.blocked_since.is_some_and(|since| now.duration_since(since) >= time_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_give_time_back_up_to_the_whole() {
        let limits = ConnectionLimits {
            response_silence_max: Duration::from_secs(30),
            response_bytes_per_second_min: 1_000,
            ..ConnectionLimits::default()
        };
        let (mut timeout, mut now) = (WriteTimeout::default(), Instant::now());
        let mut check = |waited_ms, bytes, expect_left_ms| {
            timeout.note_blocked(now);
            now += Duration::from_millis(waited_ms);
            timeout.note_written(bytes, now, &limits);
            let left = limits.response_silence_max - timeout.used;
            assert_eq!(left, Duration::from_millis(expect_left_ms), "{bytes} bytes after {waited_ms} ms");
        };
        check(0, 4_000_000, 30_000);
        check(10_000, 5_000, 25_000);
        check(10_000, 1, 15_001);
        check(1, 2, 15_002);
        check(60_000, 100, 100);
        check(50, 1_000_000, 30_000);
    }
}
