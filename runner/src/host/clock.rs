//! The clocks that a tool sees, a millisecond coarse.

use std::time::{Duration, Instant};

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

use super::count::Count;

/// Finer time would help a guest to time its neighbours' caches.
const RESOLUTION: Duration = Duration::from_millis(1);

pub struct Wall(pub Count);

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        RESOLUTION
    }

    fn now(&self) -> Duration {
        self.0.add(1);
        let now = registry::Clock::system().now().as_milliseconds();
        Duration::from_millis(u64::try_from(now).unwrap_or(0))
    }
}

/// Starts at zero with the run, so that it tells nothing of the host.
pub struct Monotonic(Instant, Count);

impl Monotonic {
    #[expect(clippy::disallowed_methods, reason = "this is the boundary that gives guests time")]
    pub fn start(reads: Count) -> Self {
        Self(Instant::now(), reads)
    }
}

impl HostMonotonicClock for Monotonic {
    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn now(&self) -> u64 {
        self.1.add(1);
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_mul(1_000_000)
    }
}
