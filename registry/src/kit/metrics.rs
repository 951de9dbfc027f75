//! The metrics of the registry, for a recorder of the `metrics` crate. Without a recorder they cost next to nothing.

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};

pub(crate) const RUNNING: &str = "lathe_work_running";
pub(crate) const WAITING: &str = "lathe_work_waiting";
pub(crate) const REFUSED: &str = "lathe_work_refused_total";
pub(crate) const WAIT_SECONDS: &str = "lathe_work_wait_duration_seconds";
pub(crate) const RECORDS: &str = "lathe_records_written_total";
pub(crate) const COMMIT_SECONDS: &str = "lathe_database_commit_duration_seconds";
pub(crate) const COMMIT_WRITES: &str = "lathe_database_commit_writes";
pub(crate) const COMMITS_FAILED: &str = "lathe_database_commits_failed_total";
pub(crate) const WRITES_WAITING: &str = "lathe_database_writes_waiting";
pub(crate) const CONNECTIONS: &str = "lathe_database_connections";
pub(crate) const NODES: &str = "lathe_nodes";
pub(crate) const STORAGE_FAILURES: &str = "lathe_storage_failures_total";

/// Describes the metrics to the recorder.
pub fn describe_metrics() {
    describe_gauge!(RUNNING, "Work in progress, by kind: runs, builds or operations");
    describe_gauge!(WAITING, "Work that waits in a queue, by kind");
    describe_counter!(
        REFUSED,
        "Work refused because a queue was full, by kind and by scope of the bound: organization or process"
    );
    describe_histogram!(WAIT_SECONDS, Unit::Seconds, "Time that work waited in a queue, by kind");
    describe_counter!(RECORDS, "Starts and ends of runs that are durable in the record, by event: start or end");
    describe_histogram!(COMMIT_SECONDS, Unit::Seconds, "Duration of a commit, including its writes");
    describe_histogram!(COMMIT_WRITES, "Writes per commit");
    describe_counter!(COMMITS_FAILED, "Commits that failed with all their writes");
    describe_gauge!(WRITES_WAITING, "Writes waiting for the next commit");
    describe_gauge!(
        CONNECTIONS,
        "Connections to the database, by pool (readers, lists or counters) and by state (used or idle)"
    );
    describe_gauge!(NODES, "Servers of the database that are there, as this one sees them");
    describe_counter!(
        STORAGE_FAILURES,
        "Requests to the bucket that failed after their retries, by action: read, write, list or delete"
    );
    begin_at_zero();
}

/// Shows counters before their first event, which a query for increases would miss otherwise.
fn begin_at_zero() {
    counter!(COMMITS_FAILED).increment(0);
    for event in ["start", "end", "refused"] {
        counter!(RECORDS, "event" => event).increment(0);
    }
    for action in ["read", "write", "list", "delete"] {
        counter!(STORAGE_FAILURES, "action" => action).increment(0);
    }
}

/// Converts a count to the number type of metrics.
pub(crate) fn to_number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
