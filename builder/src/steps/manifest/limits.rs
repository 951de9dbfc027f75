//! The table `limits`: the resources that a run of the version may use. Most tools need not set it.

use registry::RunBounds;

use super::fields::Fields;
use crate::error::Error;

/// Reads the limits, up to the maximum of this release. The operator's caps apply when a version runs, since they may
/// change.
pub fn read(mut limits: Fields) -> Result<RunBounds, Error> {
    let max = runner::Limits::MAX;
    let size = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    let bounds = RunBounds {
        cpu_ms: limits.take_seconds("cpu_seconds", max.cpu_ms)?,
        table_elements: limits.take_number("table_elements", size(max.table_elements))?,
        handles: limits.take_number("handles", size(max.handles))?,
        host_calls: limits.take_number("host_calls", max.host_calls)?,
        output_characters: limits.take_number("output_characters", size(max.output_characters))?,
        status_events: limits.take_number("status_events", max.status_events.into())?,
        status_event_bytes: limits.take_number("status_event_bytes", size(max.status_event_bytes))?,
        log_bytes: read_kilobytes(&mut limits, "log_kb", size(max.stdio_bytes))?,
        http_requests: limits.take_number("http_requests", max.http_requests.into())?,
        http_parallel: limits.take_number("http_parallel", size(max.http_parallel))?,
        http_request_bytes: read_kilobytes(&mut limits, "http_request_kb", max.http_request_bytes)?,
        http_response_bytes: read_kilobytes(&mut limits, "http_response_kb", max.http_response_bytes)?,
        http_bytes: read_kilobytes(&mut limits, "http_kb", max.http_bytes)?,
    };
    limits.finish().map(|()| bounds)
}

fn read_kilobytes(limits: &mut Fields, key: &str, bytes_max: u64) -> Result<Option<u64>, Error> {
    Ok(limits.take_number(key, bytes_max >> 10)?.map(|kilobytes| kilobytes << 10))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_refused, parse};

    #[test]
    fn a_limit_is_a_number_from_one_to_the_maximum_of_the_release() {
        for (key, max) in [
            ("table_elements", 100_000),
            ("handles", 10_000),
            ("host_calls", 10_000_000),
            ("output_characters", 20_000),
            ("status_events", 1_000),
            ("status_event_bytes", 4_096),
            ("log_kb", 1_024),
            ("http_requests", 256),
            ("http_parallel", 32),
            ("http_request_kb", 1_536),
            ("http_response_kb", 8_192),
            ("http_kb", 32_768),
        ] {
            let text = |value: i64| format!("[project]\nname = 'w'\n[tool.lathe.limits]\n\n{key} = {value}\n");
            assert!(parse(&text(max)).is_ok(), "{key} = {max}");
            for wrong in [0, -1, max + 1, i64::MAX] {
                let expected = format!("pyproject.toml:5: tool.lathe.limits.{key} must be between 1 and {max}");
                assert_refused(&text(wrong), &expected);
            }
        }
        let computing = |value: &str| format!("[project]\nname = 'w'\n[tool.lathe.limits]\ncpu_seconds = {value}\n");
        for wrong in ["60.5", "-1", "0.0001", "nan", "inf"] {
            assert_refused(&computing(wrong), "pyproject.toml:4: tool.lathe.limits.cpu_seconds must be");
        }
        assert!(parse(&computing("60")).is_ok());
    }
}
