//! The clock that rate limits are counted with.

use std::sync::Arc;

use governor::clock::Clock;
use governor::nanos::Nanos;
use parking_lot::Mutex;
use registry::Timestamp;

const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;

/// Time since the creation of the clock. A system clock that is set back only stops it for a moment, so that no user is
/// locked out until the system clock has caught up.
#[derive(Clone, Debug)]
pub(super) struct MonotonicClock {
    system: registry::Clock,
    last: Arc<Mutex<Reading>>,
}

#[derive(Debug)]
struct Reading {
    system: Timestamp,
    elapsed: u64,
}

impl MonotonicClock {
    pub(super) fn new(system: registry::Clock) -> Self {
        let reading = Reading { system: system.now(), elapsed: 0 };
        Self { system, last: Arc::new(Mutex::new(reading)) }
    }
}

impl Clock for MonotonicClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        let mut last = self.last.lock();
        last.move_to(self.system.now());
        last.elapsed.into()
    }
}

impl Reading {
    fn move_to(&mut self, now: Timestamp) {
        let forward = now.as_milliseconds().saturating_sub(self.system.as_milliseconds());
        let forward = u64::try_from(forward).unwrap_or(0).saturating_mul(NANOSECONDS_PER_MILLISECOND);
        *self = Self { system: now, elapsed: self.elapsed.saturating_add(forward) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_locks_no_user_out() {
        let mut reading = Reading { system: Timestamp::from_milliseconds(5), elapsed: 0 };
        let elapsed = [6, 1, 3].map(|milliseconds| {
            reading.move_to(Timestamp::from_milliseconds(milliseconds));
            reading.elapsed
        });
        assert_eq!(elapsed, [1_000_000, 1_000_000, 3_000_000]);
    }
}
