//! What the registry counts, for whoever has installed a recorder of the `metrics` crate. Without one, counting costs
//! next to nothing.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

pub(crate) const RECORDS: &str = "lathe_records_written_total";
pub(crate) const COMMIT_SECONDS: &str = "lathe_database_commit_duration_seconds";
pub(crate) const COMMIT_WRITES: &str = "lathe_database_commit_writes";
pub(crate) const COMMITS_FAILED: &str = "lathe_database_commits_failed_total";
pub(crate) const FLUSH_SECONDS: &str = "lathe_journal_flush_duration_seconds";
pub(crate) const FLUSH_HALVES: &str = "lathe_journal_flush_halves";
pub(crate) const FLUSHES_FAILED: &str = "lathe_journal_flushes_failed_total";
pub(crate) const HALVES_REFUSED: &str = "lathe_journal_halves_refused_total";
pub(crate) const WRITES_WAITING: &str = "lathe_database_writes_waiting";

/// Tells the recorder what the numbers mean.
pub fn describe_metrics() {
    describe_counter!(RECORDS, "Halves of records of runs that are durable, by half: start or end");
    describe_histogram!(COMMIT_SECONDS, Unit::Seconds, "Time of a commit of writes, with the writes");
    describe_histogram!(COMMIT_WRITES, "Writes that shared a commit");
    describe_counter!(COMMITS_FAILED, "Commits that failed, and with them all their writes");
    describe_histogram!(FLUSH_SECONDS, Unit::Seconds, "Time of a flush of the journal, with what was written to it");
    describe_histogram!(FLUSH_HALVES, "Calls to keep halves of records that shared a flush of the journal");
    describe_counter!(FLUSHES_FAILED, "Flushes of the journal that failed, and with them all that shared them");
    describe_counter!(
        HALVES_REFUSED,
        "Durable halves of records that the database refuses for good: a fault of this program"
    );
    describe_gauge!(WRITES_WAITING, "Writes that wait for the next commit");
}

/// A count as the number that metrics take.
pub(crate) fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
