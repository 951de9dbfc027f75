//! What one run may use, and the limiter that sums memory over the run.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wasmtime::ResourceLimiter;

/// Bounds of one run. A version's settings lie below an operator's caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From the start of the run to its end, waiting included.
    pub wall_ms: u64,
    /// While the guest computes, counted in epoch ticks of a millisecond.
    pub cpu_ms: u64,
    /// Summed over all linear memories of the run.
    pub memory_bytes: u64,
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

    /// What an author may ask for at most, unless the operator says otherwise.
    pub const MAX: Self = Self { wall_ms: 300_000, cpu_ms: 60_000, memory_bytes: 256 << 20, ..Self::DEFAULT };

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

    #[must_use]
    pub const fn wall(&self) -> Duration {
        Duration::from_millis(self.wall_ms)
    }
}

/// Table elements over the whole run: an interpreter needs about 6,000.
const TABLE_ELEMENTS_MAX: usize = 100_000;

/// Refuses growth beyond the run's memory; the guest sees a failed allocation.
#[derive(Debug)]
pub struct Limiter {
    memory_left: u64,
    table_left: usize,
    pub memory_peak: u64,
}

impl Limiter {
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Self { memory_left: limits.memory_bytes, table_left: TABLE_ELEMENTS_MAX, memory_peak: 0 }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let Some(left) = self.memory_left.checked_sub(more) else {
            return Ok(false);
        };
        self.memory_left = left;
        self.memory_peak += more;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let Some(left) = self.table_left.checked_sub(desired.saturating_sub(current)) else {
            return Ok(false);
        };
        self.table_left = left;
        Ok(true)
    }
}
