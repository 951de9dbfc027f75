//! The table `[tool.lathe.limits]`: what a run of the version may use.

use registry::RunBounds;
use serde::Deserialize;
use toml::Spanned;

use super::{Reader, milliseconds};
use crate::error::Error;

/// `[tool.lathe.limits]`: what most tools need not set.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    cpu_seconds: Option<Spanned<f64>>,
    table_elements: Option<Spanned<i64>>,
    handles: Option<Spanned<i64>>,
    host_calls: Option<Spanned<i64>>,
    output_characters: Option<Spanned<i64>>,
    status_events: Option<Spanned<i64>>,
    status_event_bytes: Option<Spanned<i64>>,
    log_kb: Option<Spanned<i64>>,
    http_requests: Option<Spanned<i64>>,
    http_parallel: Option<Spanned<i64>>,
    http_request_kb: Option<Spanned<i64>>,
    http_response_kb: Option<Spanned<i64>>,
    http_kb: Option<Spanned<i64>>,
}

impl Reader<'_> {
    /// Up to what the release has at most. An operator's caps hold when a version runs, since they may change.
    pub(super) fn limits(&self, limits: &Limits) -> Result<RunBounds, Error> {
        let max = runner::Limits::MAX;
        let size = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
        let number = |key, value: &Option<_>, max| value.as_ref().map(|value| self.number(key, value, max)).transpose();
        let kilobytes = |key, value: &Option<_>, bytes_max: u64| {
            number(key, value, bytes_max >> 10).map(|found| found.map(|kilobytes| kilobytes << 10))
        };
        let cpu_ms = limits.cpu_seconds.as_ref().map(|value| self.computing(value, max.cpu_ms)).transpose()?;
        Ok(RunBounds {
            cpu_ms,
            table_elements: number("table_elements", &limits.table_elements, size(max.table_elements))?,
            handles: number("handles", &limits.handles, size(max.handles))?,
            host_calls: number("host_calls", &limits.host_calls, max.host_calls)?,
            output_characters: number("output_characters", &limits.output_characters, size(max.output_characters))?,
            status_events: number("status_events", &limits.status_events, max.status_events.into())?,
            status_event_bytes: number("status_event_bytes", &limits.status_event_bytes, size(max.status_event_bytes))?,
            log_bytes: kilobytes("log_kb", &limits.log_kb, size(max.stdio_bytes))?,
            http_requests: number("http_requests", &limits.http_requests, max.http_requests.into())?,
            http_parallel: number("http_parallel", &limits.http_parallel, size(max.http_parallel))?,
            http_request_bytes: kilobytes("http_request_kb", &limits.http_request_kb, max.http_request_bytes)?,
            http_response_bytes: kilobytes("http_response_kb", &limits.http_response_kb, max.http_response_bytes)?,
            http_bytes: kilobytes("http_kb", &limits.http_kb, max.http_bytes)?,
        })
    }

    /// One of the limits.
    fn number(&self, key: &str, value: &Spanned<i64>, max: u64) -> Result<u64, Error> {
        let number = u64::try_from(*value.get_ref()).ok().filter(|number| (1..=max).contains(number));
        let refusal = || self.refuse(&format!("limits.{key}"), &value.span(), &format!("must be between 1 and {max}"));
        number.ok_or_else(refusal)
    }

    fn computing(&self, value: &Spanned<f64>, max_ms: u64) -> Result<u64, Error> {
        let max = max_ms / 1_000;
        let refusal = || format!("must be at least 0.001 and at most {max}");
        let milliseconds = milliseconds(*value.get_ref()).filter(|milliseconds| *milliseconds <= max_ms);
        milliseconds.ok_or_else(|| self.refuse("limits.cpu_seconds", &value.span(), &refusal()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Manifest, tests::refused};

    #[test]
    fn a_limit_is_a_number_from_one_to_what_the_release_has() {
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
            assert!(Manifest::parse(text(max).as_bytes()).is_ok(), "{key} = {max}");
            for wrong in [0, -1, max + 1, i64::MAX] {
                let expected = format!("pyproject.toml:5: tool.lathe.limits.{key} must be between 1 and {max}");
                refused(&text(wrong), &expected);
            }
        }
        let computing = |value: &str| format!("[project]\nname = 'w'\n[tool.lathe.limits]\ncpu_seconds = {value}\n");
        for wrong in ["60.5", "-1", "0.0001", "nan", "inf"] {
            refused(&computing(wrong), "pyproject.toml:4: tool.lathe.limits.cpu_seconds must be");
        }
        assert!(Manifest::parse(computing("60").as_bytes()).is_ok());
    }
}
