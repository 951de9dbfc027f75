//! The clock, which is passed to all code that needs the time. No other code in the workspace reads the system clock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::byte_cache::HeapBytes;

/// Milliseconds since 1970-01-01T00:00:00Z. Displays as RFC 3339 with `Z` and milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl HeapBytes for Timestamp {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Timestamp {
    pub const fn from_milliseconds(milliseconds: i64) -> Self {
        Self(milliseconds)
    }

    pub const fn as_milliseconds(self) -> i64 {
        self.0
    }

    /// Returns the earlier time, or the first representable time.
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(to_milliseconds(duration)))
    }

    /// Returns the later time, or the last representable time.
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(to_milliseconds(duration)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only a corrupt row lies outside the calendar. It is shown as the last time.
        let instant = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        write!(formatter, "{instant:.3}")
    }
}

/// The system clock, or for tests a clock that stands still until it is moved.
#[derive(Clone, Debug)]
pub struct Clock(TimeSource);

#[derive(Clone, Debug)]
enum TimeSource {
    System,
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    pub const fn system() -> Self {
        Self(TimeSource::System)
    }

    /// Creates a clock that shows `start` until [`Clock::advance`] moves it. Clones move together.
    pub fn fixed(start: Timestamp) -> Self {
        Self(TimeSource::Fixed(Arc::new(AtomicI64::new(start.0))))
    }

    pub fn now(&self) -> Timestamp {
        match &self.0 {
            TimeSource::System => Timestamp(read_system_milliseconds()),
            TimeSource::Fixed(now) => Timestamp(now.load(Ordering::SeqCst)),
        }
    }

    /// Moves a fixed clock. Does nothing to the system clock.
    pub fn advance(&self, by: Duration) {
        if let TimeSource::Fixed(now) = &self.0 {
            now.fetch_add(to_milliseconds(by), Ordering::SeqCst);
        }
    }
}

fn to_milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "this is the clock that is passed to all other code")]
fn read_system_milliseconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, to_milliseconds)
}
