//! Upper bounds of run limits: the table `[run_limits]` of the settings file. A version may choose its limits up to
//! these bounds.

use std::time::Duration;

use runner::Limits;
use serde::Deserialize;

use crate::failure::Failure;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimitSettings {
    timeout_seconds: Option<u64>,
    cpu_seconds: Option<u64>,
    memory_mb: Option<u64>,
    table_elements: Option<u64>,
    handles: Option<u64>,
    host_calls: Option<u64>,
    output_characters: Option<u64>,
    status_events: Option<u32>,
    status_event_bytes: Option<u64>,
    log_kb: Option<u64>,
    http_requests: Option<u32>,
    http_parallel: Option<u64>,
    http_request_kb: Option<u64>,
    http_response_kb: Option<u64>,
    http_kb: Option<u64>,
}

impl RunLimitSettings {
    /// The caps of this release, lowered where the file sets a bound. A cap cannot be raised, since each release is
    /// tested up to its own caps.
    pub fn lower_caps(&self) -> anyhow::Result<Limits> {
        let max = Limits::MAX;
        let milliseconds = |seconds: u64| u64::try_from(Duration::from_secs(seconds).as_millis()).unwrap_or(u64::MAX);
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let kilobytes = |value: u64| value.saturating_mul(1 << 10);
        Ok(Limits {
            wall_ms: lower_cap("timeout_seconds", self.timeout_seconds.map(milliseconds), max.wall_ms)?,
            cpu_ms: lower_cap("cpu_seconds", self.cpu_seconds.map(milliseconds), max.cpu_ms)?,
            memory_bytes: lower_cap(
                "memory_mb",
                self.memory_mb.map(|value| value.saturating_mul(1 << 20)),
                max.memory_bytes,
            )?,
            table_elements: lower_cap("table_elements", self.table_elements.map(size), max.table_elements)?,
            handles: lower_cap("handles", self.handles.map(size), max.handles)?,
            host_calls: lower_cap("host_calls", self.host_calls, max.host_calls)?,
            output_characters: lower_cap("output_characters", self.output_characters.map(size), max.output_characters)?,
            status_events: lower_cap("status_events", self.status_events, max.status_events)?,
            status_event_bytes: lower_cap(
                "status_event_bytes",
                self.status_event_bytes.map(size),
                max.status_event_bytes,
            )?,
            stdio_bytes: lower_cap("log_kb", self.log_kb.map(kilobytes).map(size), max.stdio_bytes)?,
            http_requests: lower_cap("http_requests", self.http_requests, max.http_requests)?,
            http_parallel: lower_cap("http_parallel", self.http_parallel.map(size), max.http_parallel)?,
            http_request_bytes: lower_cap(
                "http_request_kb",
                self.http_request_kb.map(kilobytes),
                max.http_request_bytes,
            )?,
            http_response_bytes: lower_cap(
                "http_response_kb",
                self.http_response_kb.map(kilobytes),
                max.http_response_bytes,
            )?,
            http_bytes: lower_cap("http_kb", self.http_kb.map(kilobytes), max.http_bytes)?,
            ..max
        })
    }
}

fn lower_cap<T: PartialOrd + Default>(key: &str, asked: Option<T>, max: T) -> anyhow::Result<T> {
    match asked {
        None => Ok(max),
        Some(asked) if asked > T::default() && asked <= max => Ok(asked),
        Some(_) => Err(Failure::usage(
            format!("run_limits.{key} must be more than 0 and at most this release's maximum"),
            "docs/reference/manifest.md lists the maximum of each limit",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_can_be_lowered_and_not_raised() {
        let read = |text: &str| toml::from_str::<RunLimitSettings>(text).expect("a table").lower_caps();
        assert_eq!(read("").expect("nothing is set"), Limits::MAX);
        let caps = read("timeout_seconds = 60\nmemory_mb = 64\nhost_calls = 5\nlog_kb = 1").expect("less than all");
        let expected =
            Limits { wall_ms: 60_000, memory_bytes: 64 << 20, host_calls: 5, stdio_bytes: 1_024, ..Limits::MAX };
        assert_eq!(caps, expected);
        let caps = read("http_requests = 3\nhttp_parallel = 2\nhttp_request_kb = 4\nhttp_response_kb = 5\nhttp_kb = 6");
        let expected = Limits {
            http_requests: 3,
            http_parallel: 2,
            http_request_bytes: 4 << 10,
            http_response_bytes: 5 << 10,
            http_bytes: 6 << 10,
            ..Limits::MAX
        };
        assert_eq!(caps.expect("less than all"), expected);
        let wrong = ["memory_mb = 257", "handles = 0", "output_characters = 20001", "http_requests = 257"];
        for wrong in wrong.into_iter().chain(["http_kb = 0", "http_response_kb = 8193", "status_event_bytes = 5000"]) {
            let error = read(wrong).expect_err(wrong).to_string();
            assert!(error.contains(wrong.split(' ').next().expect("a key")), "{error}");
        }
    }
}
