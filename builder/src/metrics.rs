//! The builder's metrics, for an installed recorder of the `metrics` crate.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use tokio::time::Instant;

use crate::error::Error;

const BUILDS: &str = "lathe_builds_total";
const BUILD_SECONDS: &str = "lathe_build_duration_seconds";
const WORKERS: &str = "lathe_build_workers";
const WORKERS_LOST: &str = "lathe_build_workers_lost_total";
const STEP_SECONDS: &str = "lathe_build_step_duration_seconds";

/// Registers the descriptions of all metrics.
pub fn describe_metrics() {
    describe_counter!(BUILDS, "Builds by kind (publish or test), outcome, and the stage that ended a failed one");
    describe_histogram!(BUILD_SECONDS, Unit::Seconds, "Time of builds including their wait, by kind");
    describe_histogram!(STEP_SECONDS, Unit::Seconds, "Time of build steps, by step");
    describe_gauge!(WORKERS, "Connected build workers");
    describe_counter!(WORKERS_LOST, "Build workers that ended during a build, or violated the protocol");
    // Counters are there before their first event, which a query for increases would miss otherwise.
    counter!(WORKERS_LOST).increment(0);
    for kind in ["publish", "test"] {
        for outcome in ["succeeded", "failed"] {
            counter!(BUILDS, "kind" => kind, "outcome" => outcome, "stage" => "").increment(0);
        }
    }
}

/// Runs an admitted build, and records its outcome and time.
pub(crate) async fn count_build<T>(
    kind: &'static str,
    build: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let began = Instant::now();
    let built = build.await;
    let (outcome, stage) = match &built {
        Ok(_) => ("succeeded", ""),
        Err(error) => ("failed", error.stage()),
    };
    counter!(BUILDS, "kind" => kind, "outcome" => outcome, "stage" => stage).increment(1);
    histogram!(BUILD_SECONDS, "kind" => kind).record(began.elapsed());
    built
}

pub(crate) fn record_step(name: &'static str, duration: Duration) {
    histogram!(STEP_SECONDS, "step" => name).record(duration);
}

pub(crate) fn record_workers(connected: usize) {
    #[expect(clippy::cast_precision_loss, reason = "no more than some tens")]
    gauge!(WORKERS).set(connected as f64);
}

pub(crate) fn count_lost_worker() {
    counter!(WORKERS_LOST).increment(1);
}
