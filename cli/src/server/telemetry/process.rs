//! What the system knows of this process, under the names that Prometheus' own clients use. Children, which compile
//! and build, are not part of it.

use std::fmt::Write;
use std::fs;

use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
use nix::sys::time::TimeValLike;
use registry::Timestamp;

/// Name, type, help, and the value where the system tells it.
type Metric = (&'static str, &'static str, &'static str, Option<f64>);

pub fn render(started_at: Timestamp) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let metrics: [Metric; 7] = [
        ("process_resident_memory_bytes", "gauge", "Resident memory", kib(&status, "VmRSS:")),
        ("process_virtual_memory_bytes", "gauge", "Virtual memory", kib(&status, "VmSize:")),
        ("process_threads", "gauge", "Threads", number(&status, "Threads:")),
        ("process_open_fds", "gauge", "Open file descriptors", open_files()),
        ("process_max_fds", "gauge", "File descriptors that may be open", files_max()),
        ("process_cpu_seconds_total", "counter", "Computing time, in user and system mode", cpu_seconds()),
        ("process_start_time_seconds", "gauge", "Start of the process, since 1970", seconds(started_at)),
    ];
    metrics.into_iter().fold(String::new(), written)
}

fn written(mut text: String, (name, kind, help, value): Metric) -> String {
    if let Some(value) = value {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
    }
    text
}

fn number(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn kib(status: &str, name: &str) -> Option<f64> {
    number(status, name).map(|kib| kib * 1024.0)
}

fn open_files() -> Option<f64> {
    let files = fs::read_dir("/proc/self/fd").ok()?.count();
    u32::try_from(files).ok().map(f64::from)
}

fn files_max() -> Option<f64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    u32::try_from(soft).ok().map(f64::from)
}

fn cpu_seconds() -> Option<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let milliseconds = usage.user_time().num_milliseconds() + usage.system_time().num_milliseconds();
    Some(thousandths(milliseconds))
}

fn seconds(at: Timestamp) -> Option<f64> {
    Some(thousandths(at.as_milliseconds()))
}

#[expect(clippy::cast_precision_loss, reason = "exact for longer than any process runs")]
fn thousandths(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_known_and_in_the_text_format() {
        let text = render(Timestamp::from_milliseconds(1_767_225_600_250));
        assert_eq!(text.matches("# TYPE ").count(), 7, "{text}");
        assert!(text.contains("process_start_time_seconds 1767225600.25\n"), "{text}");
        let resident = number(&text, "process_resident_memory_bytes").expect("memory");
        assert!(resident > 1_000_000.0, "{text}");
    }
}
