//! Limits of runs that this server lowers.

use runner::Limits;

use crate::steps::manifest::Manifest;

/// Finds declared limits above those of the operator, which count when the tool runs.
pub fn find(manifest: &Manifest, max: &Limits) -> Vec<String> {
    let size = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    let declared = manifest.limits;
    let limits = [
        ("timeout_seconds", manifest.timeout_ms, max.wall_ms, 1_000),
        ("memory_mb", manifest.memory_bytes, max.memory_bytes, 1 << 20),
        ("limits.cpu_seconds", declared.cpu_ms, max.cpu_ms, 1_000),
        ("limits.table_elements", declared.table_elements, size(max.table_elements), 1),
        ("limits.handles", declared.handles, size(max.handles), 1),
        ("limits.host_calls", declared.host_calls, max.host_calls, 1),
        ("limits.output_characters", declared.output_characters, size(max.output_characters), 1),
        ("limits.status_events", declared.status_events, max.status_events.into(), 1),
        ("limits.status_event_bytes", declared.status_event_bytes, size(max.status_event_bytes), 1),
        ("limits.log_kb", declared.log_bytes, size(max.stdio_bytes), 1 << 10),
        ("limits.http_requests", declared.http_requests, max.http_requests.into(), 1),
        ("limits.http_parallel", declared.http_parallel, size(max.http_parallel), 1),
        ("limits.http_request_kb", declared.http_request_bytes, max.http_request_bytes, 1 << 10),
        ("limits.http_response_kb", declared.http_response_bytes, max.http_response_bytes, 1 << 10),
        ("limits.http_kb", declared.http_bytes, max.http_bytes, 1 << 10),
    ];
    let lowered = limits.into_iter().filter_map(|(key, declared, max, unit)| {
        let asked = declared.filter(|asked| *asked > max)?;
        let (asked, max) = (show_limit(asked, unit), show_limit(max, unit));
        Some(format!("{key} = {asked} is more than the {max} that the operator of this server allows: runs get {max}"))
    });
    lowered.collect()
}

/// A value in its unit, with the part after the point that it has.
fn show_limit(value: u64, unit: u64) -> String {
    match value % unit {
        0 => (value / unit).to_string(),
        _ if unit == 1_000 => format!("{}.{:03}", value / unit, value % unit).trim_end_matches('0').to_owned(),
        _ => (value / unit).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_its_unit() {
        assert_eq!(
            (show_limit(1_500, 1_000), show_limit(60_000, 1_000), show_limit(64 << 20, 1 << 20)),
            ("1.5".into(), "60".into(), "64".into())
        );
    }
}
