//! Metrics in the text format of Prometheus: what the crates count, and what the system knows of the process.

use std::time::Duration;

use anyhow::Context;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use registry::{Clock, Timestamp};

use super::process;

/// From a commit to the longest build.
const SECONDS: [f64; 17] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// Up to the most writes that share a commit.
const WRITES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Samples are kept one by one until they are sorted into buckets; nobody may ever ask for them.
const UPKEEP_PERIOD: Duration = Duration::from_secs(5);

/// The recorder of this process.
#[derive(Clone)]
pub struct Metrics {
    recorded: PrometheusHandle,
    started_at: Timestamp,
}

impl Metrics {
    /// From here on everything that the crates count is kept. Once in a process.
    pub fn start(clock: &Clock) -> anyhow::Result<Self> {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
            .set_buckets_for_metric(Matcher::Suffix("_writes".to_owned()), &WRITES)?;
        let recorded = builder.install_recorder().context("starting the metrics")?;
        registry::describe_metrics();
        runner::describe_metrics();
        builder::describe_metrics();
        api::describe_metrics();
        Ok(Self { recorded, started_at: clock.now() })
    }

    /// Everything, as it is now.
    pub fn render(&self) -> String {
        self.recorded.render() + &process::render(self.started_at)
    }

    /// Sorts samples for as long as it runs.
    pub async fn keep_up(self) {
        loop {
            tokio::time::sleep(UPKEEP_PERIOD).await;
            self.recorded.run_upkeep();
        }
    }
}
