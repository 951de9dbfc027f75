//! What a server tells its operator: the log, traces, metrics.

mod human;
mod lines;
mod logging;
mod metrics;
mod metrics_listen;
mod otlp;
mod process;

pub use logging::{LogFormat, Telemetry, log_for_demo};
pub use metrics::Metrics;
pub use metrics_listen::MetricsListen;
