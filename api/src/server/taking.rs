//! How slowly a client may take its answer. Only time in which the server waits for the client counts, so that an
//! answer may be made as slowly as it is, such as a stream of events.
//!
//! A client has so much patience, and what it takes gives patience back, never beyond the whole. An average over the
//! answer would not do: the buffers on the way take megabytes at once, and would buy the client hours.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use super::timer::Timer;

pub(super) struct Taking {
    patience: Patience,
    waiting_since: Option<Instant>,
    end: Timer,
}

impl Taking {
    pub(super) fn new(silence_max: Duration, bytes_per_second_min: u32) -> Self {
        let patience = Patience { left: silence_max, max: silence_max, bytes_per_second_min };
        Self { patience, waiting_since: None, end: Timer::default() }
    }

    /// The client has taken so many bytes.
    pub(super) fn note(&mut self, bytes: usize) {
        let waited = self.waiting_since.take().map(|since| since.elapsed());
        self.patience.change(waited.unwrap_or_default(), bytes);
    }

    /// Waits on, or finds that it has been long enough.
    pub(super) fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.waiting_since.is_none() {
            self.waiting_since = Some(Instant::now());
            self.end.start(self.patience.left);
        }
        self.end.poll(context)
    }
}

struct Patience {
    left: Duration,
    max: Duration,
    bytes_per_second_min: u32,
}

impl Patience {
    fn change(&mut self, waited: Duration, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let earned_us = bytes.saturating_mul(1_000_000) / u64::from(self.bytes_per_second_min.max(1));
        let left = self.left.saturating_sub(waited).saturating_add(Duration::from_micros(earned_us));
        self.left = left.min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_give_patience_back_up_to_the_whole() {
        let mut patience =
            Patience { left: Duration::from_secs(30), max: Duration::from_secs(30), bytes_per_second_min: 1_000 };
        let mut check = |waited_ms, bytes, expect_ms| {
            patience.change(Duration::from_millis(waited_ms), bytes);
            assert_eq!(patience.left, Duration::from_millis(expect_ms), "{bytes} bytes after {waited_ms} ms");
        };
        check(0, 4_000_000, 30_000);
        check(10_000, 5_000, 25_000);
        check(10_000, 1, 15_001);
        check(1, 2, 15_002);
        check(60_000, 100, 100);
        check(50, 1_000_000, 30_000);
    }
}
