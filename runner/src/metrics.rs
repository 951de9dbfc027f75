//! Metrics of the runner, for the recorder of the `metrics` crate. Labels have few values: no organisation and no tool,
//! and every exception of a tool has the label `exception`.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use registry::Outcome;

const RUNS: &str = "lathe_runs_total";
const RUN_SECONDS: &str = "lathe_run_duration_seconds";
const RUNNERS: &str = "lathe_runners";
const RUNNERS_CRASHED: &str = "lathe_runners_crashed_total";
const RUN_CPU_SECONDS: &str = "lathe_run_cpu_duration_seconds";

/// The languages of tools, and that of tools which the server provides.
const LANGUAGES: [&str; 4] = ["python", "javascript", "rust", "native"];

/// Reasons for the end of a runner.
const CRASH_REASONS: [&str; 5] = ["died", "overdue", "breach", "fault", "start"];

/// Failures that the host names.
const HOST_FAILURES: [&str; 20] = [
    "timeout_wall",
    "timeout_cpu",
    "output_too_large",
    "output_not_persistable",
    "output_schema",
    "stack_overflow",
    "trap",
    "panic",
    "out_of_memory",
    "limit_hostcalls",
    "limit_hostcall_bytes",
    "limit_handles",
    "instantiate_failed",
    "artifact_damaged",
    "exit",
    "no_result",
    "runner_crashed",
    "internal",
    "input_required",
    "MemoryError",
];

/// Registers the descriptions of all metrics.
pub fn describe_metrics() {
    describe_counter!(RUNS, "Runs by outcome and language");
    describe_histogram!(RUN_SECONDS, Unit::Seconds, "Duration of runs, without time in the queue, by language");
    describe_histogram!(RUN_CPU_SECONDS, Unit::Seconds, "Computing time of runs, by language");
    describe_gauge!(RUNNERS, "Runner processes that are ready");
    describe_counter!(RUNNERS_CRASHED, "Runner processes that ended and were replaced, by reason");
    begin_at_zero();
}

/// Shows counters before their first event, which a query for increases would miss otherwise.
fn begin_at_zero() {
    for language in LANGUAGES {
        for outcome in ["succeeded", "exception"].into_iter().chain(HOST_FAILURES) {
            counter!(RUNS, "outcome" => outcome, "language" => language).increment(0);
        }
    }
    for reason in CRASH_REASONS {
        counter!(RUNNERS_CRASHED, "reason" => reason).increment(0);
    }
}

/// Records the duration and computing time of a run. The language of a native tool is `native`.
pub(crate) fn count_executed(duration: Duration, cpu_ms: u64, language: &'static str) {
    histogram!(RUN_SECONDS, "language" => language).record(duration);
    histogram!(RUN_CPU_SECONDS, "language" => language).record(Duration::from_millis(cpu_ms));
}

/// Counts a run by its outcome.
pub(crate) fn count_ended(outcome: &Outcome, language: &'static str) {
    counter!(RUNS, "outcome" => label_outcome(outcome), "language" => language).increment(1);
}

/// Sets the number of runners that are ready.
pub(crate) fn set_runners(alive: usize) {
    gauge!(RUNNERS).set(convert_count(alive));
}

/// Counts a runner that ended by itself, was killed, or did not start.
pub(crate) fn count_runner_crash(reason: &'static str) {
    counter!(RUNNERS_CRASHED, "reason" => reason).increment(1);
}

/// A count as a metric value.
pub(crate) fn convert_count(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

fn label_outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded { .. } => "succeeded",
        Outcome::Failed { exception_type, .. } => {
            HOST_FAILURES.iter().find(|name| *name == exception_type).copied().unwrap_or("exception")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_of_a_tool_is_no_label() {
        let label = |kind: &str| label_outcome(&crate::sandbox::outcome::failed(kind, "why"));
        assert_eq!(label("timeout_wall"), "timeout_wall");
        assert_eq!(label("acme.OutOfCoffee"), "exception");
        assert_eq!(label_outcome(&Outcome::Succeeded { output: String::new() }), "succeeded");
    }
}
