//! What one run may use, and the limiter that sums memory over the run.

use std::time::Duration;

use registry::{RunBounds, VersionSettings};
use serde::{Deserialize, Serialize};
use wasmtime::ResourceLimiter;

use crate::call::OUTPUT_CHARACTERS_MAX;

/// Bounds of one run. A version's settings lie below an operator's caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From the start of the run to its end, waiting included.
    pub wall_ms: u64,
    /// While the guest computes, and the host for it; looked at once a millisecond.
    pub cpu_ms: u64,
    /// Summed over all linear memories of the run.
    pub memory_bytes: u64,
    /// Summed over all tables of the run.
    pub table_elements: usize,
    /// Of streams, timers and the like that are open at once.
    pub handles: usize,
    /// Calls of any function of the host.
    pub host_calls: u64,
    /// Bytes that the guest may hand over in one of them.
    pub hostcall_bytes: usize,
    /// Unicode scalar values.
    pub output_characters: usize,
    /// Bytes of output that the host copies; characters are counted later.
    pub output_bytes: usize,
    /// Of stdout and stderr together; what follows is dropped.
    pub stdio_bytes: usize,
    pub status_events: u32,
    pub status_event_bytes: usize,
    /// Requests that a run makes, refused ones included.
    pub http_requests: u32,
    /// Requests under way at once; what comes beyond waits.
    pub http_parallel: usize,
    /// A request's body.
    pub http_request_bytes: u64,
    /// An answer's body.
    pub http_response_bytes: u64,
    /// Of all bodies of a run; answers that are under way together may pass it.
    pub http_bytes: u64,
}

impl Limits {
    /// What a version gets that asks for nothing.
    pub const DEFAULT: Self = Self {
        wall_ms: 30_000,
        cpu_ms: 10_000,
        memory_bytes: 128 << 20,
        // Python has one table of about 6,000.
        table_elements: 20_000,
        // An interpreter holds about twenty.
        handles: 1_000,
        // About a second of nothing but asking for the time.
        host_calls: 1_000_000,
        // The largest output that is looked at, all of it of characters of four bytes. What the host hands over, such
        // as a bundle, is not counted.
        hostcall_bytes: (4 << 20) + 4,
        output_characters: OUTPUT_CHARACTERS_MAX,
        // 20,000 characters are at most 80,000 bytes; one more is enough to refuse.
        output_bytes: 1 << 20,
        stdio_bytes: 64 << 10,
        status_events: 100,
        status_event_bytes: 1 << 10,
        http_requests: 32,
        http_parallel: 6,
        http_request_bytes: 1 << 20,
        http_response_bytes: 4 << 20,
        http_bytes: 16 << 20,
    };

    /// What an author may ask for at most, unless the operator allows less.
    pub const MAX: Self = Self {
        wall_ms: 300_000,
        cpu_ms: 60_000,
        memory_bytes: 256 << 20,
        // Of one table no more than the engine's pool has room for.
        table_elements: 100_000,
        handles: 10_000,
        host_calls: 10_000_000,
        stdio_bytes: 1 << 20,
        status_events: 1_000,
        // With as many events as this a record has 4 MiB of them.
        status_event_bytes: 4 << 10,
        // About a fifth of what an organisation sends in a minute.
        http_requests: 256,
        // Half of what its organisation has at once.
        http_parallel: 32,
        // With its head it fits into what an interpreter hands over, 2 MiB, and the host takes, 4 MiB.
        http_request_bytes: 3 << 19,
        // Each lies in the server until its runner has it, in the runner until the guest takes it, and on the tape.
        http_response_bytes: 8 << 20,
        // What one run can make the server hold, once as what waits to leave and once as what came. Also below a frame
        // on the way between server and runner.
        http_bytes: 32 << 20,
        ..Self::DEFAULT
    };

    /// Those of a version's runs, capped.
    #[must_use]
    pub fn of(settings: &VersionSettings, cap: &Self) -> Self {
        let limits = Self::DEFAULT.with(Some(settings.timeout_ms), Some(settings.memory_bytes), cap);
        limits.bounded(&settings.limits, cap)
    }

    /// The same limits with the version's own settings, capped.
    #[must_use]
    pub fn with(self, wall_ms: Option<u64>, memory_bytes: Option<u64>, cap: &Self) -> Self {
        let wall_ms = wall_ms.unwrap_or(self.wall_ms).min(cap.wall_ms);
        Self {
            wall_ms,
            // Whoever asks for more time than usual means to compute in it.
            cpu_ms: if wall_ms > self.wall_ms { wall_ms } else { self.cpu_ms }.min(cap.cpu_ms),
            memory_bytes: memory_bytes.unwrap_or(self.memory_bytes).min(cap.memory_bytes),
            ..self
        }
    }

    /// The same limits with the bounds that a version sets itself, capped.
    #[must_use]
    pub fn bounded(self, asked: &RunBounds, cap: &Self) -> Self {
        Self {
            cpu_ms: below(asked.cpu_ms, self.cpu_ms, cap.cpu_ms),
            table_elements: below(asked.table_elements, self.table_elements, cap.table_elements),
            handles: below(asked.handles, self.handles, cap.handles),
            host_calls: below(asked.host_calls, self.host_calls, cap.host_calls),
            output_characters: below(asked.output_characters, self.output_characters, cap.output_characters),
            stdio_bytes: below(asked.log_bytes, self.stdio_bytes, cap.stdio_bytes),
            status_events: below(asked.status_events, self.status_events, cap.status_events),
            status_event_bytes: below(asked.status_event_bytes, self.status_event_bytes, cap.status_event_bytes),
            http_requests: below(asked.http_requests, self.http_requests, cap.http_requests),
            http_parallel: below(asked.http_parallel, self.http_parallel, cap.http_parallel),
            http_request_bytes: below(asked.http_request_bytes, self.http_request_bytes, cap.http_request_bytes),
            http_response_bytes: below(asked.http_response_bytes, self.http_response_bytes, cap.http_response_bytes),
            http_bytes: below(asked.http_bytes, self.http_bytes, cap.http_bytes),
            ..self
        }
    }

    #[must_use]
    pub const fn wall(&self) -> Duration {
        Duration::from_millis(self.wall_ms)
    }
}

/// What is asked for, or else the default, as far as the cap goes.
fn below<T: TryFrom<u64> + Ord>(asked: Option<u64>, default: T, cap: T) -> T {
    match asked.map(T::try_from) {
        None => default.min(cap),
        Some(Ok(asked)) => asked.min(cap),
        Some(Err(_)) => cap, // more than the type has room for
    }
}

/// Refuses growth beyond the run's memory; the guest sees a failed allocation.
#[derive(Debug)]
pub struct Limiter {
    memory_left: u64,
    table_left: usize,
    pub memory_peak: u64,
    /// Whether the guest was refused memory at any time.
    pub memory_refused: bool,
}

impl Limiter {
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Self {
            memory_left: limits.memory_bytes,
            table_left: limits.table_elements,
            memory_peak: 0,
            memory_refused: false,
        }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let Some(left) = self.memory_left.checked_sub(more) else {
            self.memory_refused = true;
            return Ok(false);
        };
        self.memory_left = left;
        self.memory_peak += more;
        Ok(true)
    }

    /// Granted here and refused further in, such as beyond what one memory can have.
    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.memory_refused = true;
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let Some(left) = self.table_left.checked_sub(desired.saturating_sub(current)) else {
            return Ok(false);
        };
        self.table_left = left;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_version_asks_for_lies_below_the_cap() {
        let asked = RunBounds { cpu_ms: Some(100), handles: Some(u64::MAX), ..RunBounds::default() };
        let limits = Limits::DEFAULT.bounded(&asked, &Limits::MAX);
        assert_eq!(limits, Limits { cpu_ms: 100, handles: Limits::MAX.handles, ..Limits::DEFAULT });
        let cap = Limits { cpu_ms: 50, host_calls: 7, ..Limits::MAX };
        let limits = Limits::DEFAULT.bounded(&asked, &cap);
        assert_eq!((limits.cpu_ms, limits.host_calls), (50, 7), "a cap holds for what is not asked for, too");
    }

    #[test]
    fn bounds_of_http_have_a_default_a_cap_and_a_setting() {
        let asked = RunBounds {
            http_requests: Some(u64::MAX),
            http_parallel: Some(1),
            http_request_bytes: Some(0),
            http_response_bytes: Some(5 << 20),
            ..RunBounds::default()
        };
        let cap = Limits { http_requests: 40, http_bytes: 7, ..Limits::MAX };
        let limits = Limits::DEFAULT.bounded(&asked, &cap);
        let expected = Limits {
            http_requests: 40,
            http_parallel: 1,
            http_request_bytes: 0,
            http_response_bytes: 5 << 20,
            http_bytes: 7,
            ..Limits::DEFAULT
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn memory_and_tables_are_summed() {
        let limits = Limits { memory_bytes: 10, table_elements: 3, ..Limits::DEFAULT };
        let mut limiter = Limiter::new(&limits);
        assert!(limiter.memory_growing(0, 6, None).unwrap());
        assert!(limiter.memory_growing(0, 4, None).unwrap() && !limiter.memory_refused);
        assert!(!limiter.memory_growing(6, 7, None).unwrap() && limiter.memory_refused);
        assert!(limiter.table_growing(0, 3, None).unwrap());
        assert!(!limiter.table_growing(0, 1, None).unwrap());
        assert_eq!(limiter.memory_peak, 10);
    }
}
