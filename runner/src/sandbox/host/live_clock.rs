//! The clock of a run that is not replayed.

use std::time::Instant;

/// Wall and monotonic time in milliseconds. Monotonic time starts with the run, so that it reveals nothing of the host.
pub struct LiveClock {
    started: Instant,
    /// Wall time at the start of the run, in milliseconds since 1970, when it is not the real one.
    set_to: Option<u64>,
}

impl LiveClock {
    #[expect(clippy::disallowed_methods, reason = "this is the boundary that gives guests time")]
    pub fn start() -> Self {
        Self { started: Instant::now(), set_to: None }
    }

    /// A clock whose wall time starts at `clock_ms` and advances as fast as the real one.
    pub fn start_at(clock_ms: u64) -> Self {
        Self { set_to: Some(clock_ms), ..Self::start() }
    }

    pub fn read_monotonic(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub fn read_wall(&self) -> u64 {
        match self.set_to {
            Some(clock_ms) => clock_ms.saturating_add(self.read_monotonic()),
            None => u64::try_from(registry::Clock::system().now().as_milliseconds()).unwrap_or_default(),
        }
    }
}
