//! The clocks that a tool sees, a millisecond coarse.

use std::time::{Duration, Instant};

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// Finer time would help a guest to time its neighbours' caches.
const RESOLUTION: Duration = Duration::from_millis(1);

pub struct Wall;

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        RESOLUTION
    }

    fn now(&self) -> Duration {
        let now = registry::Clock::system().now().as_milliseconds();
        Duration::from_millis(u64::try_from(now).unwrap_or(0))
    }
}

/// Starts at zero with the run, so that it tells nothing of the host.
pub struct Monotonic(Instant);

impl Monotonic {
    #[expect(clippy::disallowed_methods, reason = "this is the boundary that gives guests time")]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl HostMonotonicClock for Monotonic {
    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_mul(1_000_000)
    }
}
