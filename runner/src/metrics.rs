//! What the runner counts, for whoever has installed a recorder of the `metrics` crate. Labels have few values: no
//! organisation, no tool, and of a tool's own exceptions only that it was one.

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use registry::Language;

use crate::{Executed, Outcome};

pub(crate) const RUNNING: &str = "lathe_work_running";
pub(crate) const WAITING: &str = "lathe_work_waiting";
pub(crate) const REFUSED: &str = "lathe_work_refused_total";
pub(crate) const WAIT_SECONDS: &str = "lathe_work_wait_duration_seconds";
const RUNS: &str = "lathe_runs_total";
const RUN_SECONDS: &str = "lathe_run_duration_seconds";
const RUNNERS: &str = "lathe_runners";
const RUNNERS_CRASHED: &str = "lathe_runners_crashed_total";
const RUN_CPU_SECONDS: &str = "lathe_run_cpu_duration_seconds";

/// The ends that the host gives a run.
const HOSTS_OUTCOMES: [&str; 19] = [
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
    "MemoryError",
];

/// Tells the recorder what the numbers mean.
pub fn describe_metrics() {
    describe_gauge!(RUNNING, "Work that has a place, by kind: runs, builds or operations");
    describe_gauge!(WAITING, "Work that waits for a place, by kind");
    describe_counter!(REFUSED, "Work that was refused, by kind and by whose bound: organization or process");
    describe_histogram!(WAIT_SECONDS, Unit::Seconds, "Time that work waited for its place, by kind");
    describe_counter!(RUNS, "Runs by outcome and language");
    describe_histogram!(RUN_SECONDS, Unit::Seconds, "Time of runs, without waiting, by language");
    describe_histogram!(RUN_CPU_SECONDS, Unit::Seconds, "Computing time of runs, by language");
    describe_gauge!(RUNNERS, "Runner processes that are ready");
    describe_counter!(RUNNERS_CRASHED, "Runner processes that ended and were replaced, by reason");
}

/// Counts a run that the sandbox has ended.
pub(crate) fn executed(run: &Executed, language: Language) {
    let language = language.as_str();
    histogram!(RUN_SECONDS, "language" => language).record(run.duration);
    histogram!(RUN_CPU_SECONDS, "language" => language)
        .record(std::time::Duration::from_millis(run.ledger.cost.cpu_ms));
}

/// Counts a run by what its caller is told.
pub(crate) fn ended(outcome: &Outcome, language: Language) {
    counter!(RUNS, "outcome" => outcome_label(outcome), "language" => language.as_str()).increment(1);
}

/// The number of runners that are ready.
pub(crate) fn runners(alive: usize) {
    gauge!(RUNNERS).set(number(alive));
}

/// Counts a runner that ended by itself, was killed, or did not start.
pub(crate) fn runner_crashed(reason: &'static str) {
    counter!(RUNNERS_CRASHED, "reason" => reason).increment(1);
}

/// A count as the number that metrics take.
pub(crate) fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

fn outcome_label(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded { .. } => "succeeded",
        Outcome::Failed { exception_type, .. } => {
            HOSTS_OUTCOMES.iter().find(|name| *name == exception_type).copied().unwrap_or("exception")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authors_exception_is_no_label() {
        let label = |kind: &str| outcome_label(&Outcome::failed(kind, "why"));
        assert_eq!(label("timeout_wall"), "timeout_wall");
        assert_eq!(label("acme.OutOfCoffee"), "exception");
        assert_eq!(outcome_label(&Outcome::Succeeded { output: String::new() }), "succeeded");
    }
}
