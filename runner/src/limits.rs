//! Limits of one run.

use std::time::Duration;

use registry::{RunBounds, VersionSettings};
use serde::{Deserialize, Serialize};

/// Unicode scalar values of the longest output. A longer output fails its run.
pub const OUTPUT_CHARACTERS_MAX: usize = 20_000;

/// Limits of one run. The operator's caps bound the settings of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time from the start of the run to its end, waiting included.
    pub wall_ms: u64,
    /// Computing time of the guest and of the host for it, checked once a millisecond.
    pub cpu_ms: u64,
    /// Bytes of all linear memories of the run together.
    pub memory_bytes: u64,
    /// Elements of all tables of the run together.
    pub table_elements: usize,
    /// Open handles (streams, timers, pollables).
    pub handles: usize,
    /// Calls of host functions.
    pub host_calls: u64,
    /// Bytes that the guest may pass in one host call.
    pub hostcall_bytes: usize,
    /// Unicode scalar values of the output.
    pub output_characters: usize,
    /// Bytes of output that the host copies before it counts characters.
    pub output_bytes: usize,
    /// Bytes kept of stdout and stderr together. Later bytes are dropped.
    pub stdio_bytes: usize,
    pub status_events: u32,
    pub status_event_bytes: usize,
    /// HTTP requests, refused ones included.
    pub http_requests: u32,
    /// HTTP requests in flight. Further requests wait.
    pub http_parallel: usize,
    /// Bytes of one request body.
    pub http_request_bytes: u64,
    /// Bytes of one response body.
    pub http_response_bytes: u64,
    /// Bytes of all bodies of a run. Responses in flight at the same time may exceed it together.
    pub http_bytes: u64,
}

impl Limits {
    /// Limits of a version that sets none.
    pub const DEFAULT: Self = Self {
        wall_ms: 30_000,
        cpu_ms: 10_000,
        memory_bytes: 128 << 20,
        // Python has one table of about 6,000.
        table_elements: 20_000,
        // An interpreter holds about twenty.
        handles: 1_000,
        // About a second of calls that read the clock.
        host_calls: 1_000_000,
        // The largest output that is read, with four bytes for each character. Bytes that the host passes to the guest,
        // such as a bundle, are not counted.
        hostcall_bytes: (4 << 20) + 4,
        output_characters: OUTPUT_CHARACTERS_MAX,
        // 20,000 characters are at most 80,000 bytes.
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

    /// The highest limits that an author may set, unless the operator allows less.
    pub const MAX: Self = Self {
        wall_ms: 300_000,
        cpu_ms: 60_000,
        memory_bytes: 256 << 20,
        // The size of one table in the engine's pool.
        table_elements: 100_000,
        handles: 10_000,
        host_calls: 10_000_000,
        stdio_bytes: 1 << 20,
        status_events: 1_000,
        // 1,000 events of this size are 4 MiB of a record.
        status_event_bytes: 4 << 10,
        // About a fifth of the requests that an organisation may send in a minute.
        http_requests: 256,
        // Half of the requests that an organisation may have in flight.
        http_parallel: 32,
        // A request with its head fits into the 2 MiB that an interpreter passes and the 4 MiB that the host accepts.
        http_request_bytes: 3 << 19,
        // A body is held in the server until the runner receives it, in the runner until the guest takes it, and on the
        // tape.
        http_response_bytes: 8 << 20,
        // Bytes that one run can make the server hold, once for bodies to send and once for received bodies. They also
        // fit into a frame between server and runner.
        http_bytes: 32 << 20,
        ..Self::DEFAULT
    };

    /// The limits of a version's runs, capped.
    #[must_use]
    pub fn of(settings: &VersionSettings, cap: &Self) -> Self {
        let limits = Self::DEFAULT.with(Some(settings.timeout_ms), Some(settings.memory_bytes), cap);
        limits.bounded(&settings.limits, cap)
    }

    /// The same limits with a version's wall time and memory, capped.
    #[must_use]
    pub fn with(self, wall_ms: Option<u64>, memory_bytes: Option<u64>, cap: &Self) -> Self {
        let wall_ms = wall_ms.unwrap_or(self.wall_ms).min(cap.wall_ms);
        Self {
            wall_ms,
            // A version with more wall time than usual gets as much CPU time.
            cpu_ms: if wall_ms > self.wall_ms { wall_ms } else { self.cpu_ms }.min(cap.cpu_ms),
            memory_bytes: memory_bytes.unwrap_or(self.memory_bytes).min(cap.memory_bytes),
            ..self
        }
    }

    /// The same limits with the bounds that a version sets, capped.
    #[must_use]
    pub fn bounded(self, asked: &RunBounds, cap: &Self) -> Self {
        Self {
            cpu_ms: bound(asked.cpu_ms, self.cpu_ms, cap.cpu_ms),
            table_elements: bound(asked.table_elements, self.table_elements, cap.table_elements),
            handles: bound(asked.handles, self.handles, cap.handles),
            host_calls: bound(asked.host_calls, self.host_calls, cap.host_calls),
            output_characters: bound(asked.output_characters, self.output_characters, cap.output_characters),
            stdio_bytes: bound(asked.log_bytes, self.stdio_bytes, cap.stdio_bytes),
            status_events: bound(asked.status_events, self.status_events, cap.status_events),
            status_event_bytes: bound(asked.status_event_bytes, self.status_event_bytes, cap.status_event_bytes),
            http_requests: bound(asked.http_requests, self.http_requests, cap.http_requests),
            http_parallel: bound(asked.http_parallel, self.http_parallel, cap.http_parallel),
            http_request_bytes: bound(asked.http_request_bytes, self.http_request_bytes, cap.http_request_bytes),
            http_response_bytes: bound(asked.http_response_bytes, self.http_response_bytes, cap.http_response_bytes),
            http_bytes: bound(asked.http_bytes, self.http_bytes, cap.http_bytes),
            ..self
        }
    }

    #[must_use]
    pub const fn wall(&self) -> Duration {
        Duration::from_millis(self.wall_ms)
    }
}

/// The requested value, or else the default, up to the cap.
fn bound<T: TryFrom<u64> + Ord>(asked: Option<u64>, default: T, cap: T) -> T {
    match asked.map(T::try_from) {
        None => default.min(cap),
        Some(Ok(asked)) => asked.min(cap),
        Some(Err(_)) => cap, // larger than the type
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_version_are_capped() {
        let asked = RunBounds { cpu_ms: Some(100), handles: Some(u64::MAX), ..RunBounds::default() };
        let limits = Limits::DEFAULT.bounded(&asked, &Limits::MAX);
        assert_eq!(limits, Limits { cpu_ms: 100, handles: Limits::MAX.handles, ..Limits::DEFAULT });
        let cap = Limits { cpu_ms: 50, host_calls: 7, ..Limits::MAX };
        let limits = Limits::DEFAULT.bounded(&asked, &cap);
        assert_eq!(
            (limits.cpu_ms, limits.host_calls),
            (50, 7),
            "a cap also applies to a bound that the version does not set"
        );
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
}
