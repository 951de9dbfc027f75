//! Metrics in the Prometheus text format: those of the crates, and those of the process (`metrics-process`), under the
//! names that the official Prometheus clients use. Child processes, which compile and build, are not included.

use std::time::Duration;

use anyhow::Context;
use metrics::{counter, describe_counter};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;

use super::log_writer::count_dropped_lines;

const LOG_LINES_DROPPED: &str = "lathe_log_lines_dropped_total";

/// Bucket bounds of durations: from a database commit to the longest build.
const SECONDS: [f64; 17] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// Bucket bounds of writes per commit and of record events per flush, up to the most writes that share a commit.
const WRITES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Interval between two upkeeps. The recorder keeps single samples until an upkeep or a scrape sorts them into buckets,
/// and there may be no scraper.
const UPKEEP_PERIOD: Duration = Duration::from_secs(5);

/// The metrics recorder of this process.
#[derive(Clone)]
pub struct Metrics {
    recorder: PrometheusHandle,
    process: Collector,
}

impl Metrics {
    /// Installs the recorder. Works once per process; earlier samples are lost.
    pub fn start() -> anyhow::Result<Self> {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
            .set_buckets_for_metric(Matcher::Suffix("_writes".to_owned()), &WRITES)?
            .set_buckets_for_metric(Matcher::Suffix("_events".to_owned()), &WRITES)?;
        let recorder = builder.install_recorder().context("starting the metrics")?;
        registry::describe_metrics();
        runner::describe_metrics();
        agents::describe_metrics();
        builder::describe_metrics();
        api::describe_metrics();
        describe_counter!(
            LOG_LINES_DROPPED,
            "Log lines dropped because the log was written faster than its reader took it"
        );
        let process = Collector::default();
        process.describe();
        Ok(Self { recorder, process })
    }

    /// Returns the current values in the Prometheus text format.
    pub fn render(&self) -> String {
        self.process.collect();
        counter!(LOG_LINES_DROPPED).absolute(count_dropped_lines());
        self.recorder.render()
    }

    /// Runs the recorder's upkeep periodically, without end.
    pub async fn run_upkeep(self) {
        loop {
            tokio::time::sleep(UPKEEP_PERIOD).await;
            self.recorder.run_upkeep();
        }
    }
}
