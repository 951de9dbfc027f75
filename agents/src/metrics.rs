//! Metrics of agents, for the recorder of the `metrics` crate.

use metrics::{counter, describe_counter};

pub(crate) const TASKS_FIRED: &str = "lathe_tasks_fired_total";

/// Registers the descriptions of all metrics. The counter begins at zero: a query for increases would miss its first event otherwise.
pub fn describe_metrics() {
    describe_counter!(TASKS_FIRED, "Tasks of the Library that came due, with those whose occurrence was skipped");
    counter!(TASKS_FIRED).increment(0);
}
