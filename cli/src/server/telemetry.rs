//! Telemetry of a server: the log, traces and metrics.

mod human;
mod json;
mod log_writer;
mod logging;
mod metrics;
mod metrics_listen;
mod otlp;
mod stalls;

pub use logging::{LogSettings, Telemetry, log_for_demo};
pub use metrics::Metrics;
pub use metrics_listen::MetricsListen;
pub use stalls::StallWatch;
