//! The log on stderr, for people or as JSON lines, and beside it the spans that go to a collector.

use std::io::IsTerminal;
use std::time::Duration;

use clap::ValueEnum;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::Deserialize;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use super::{human, otlp};
use crate::failure::Failure;

/// What was not exported when the server ends is lost after this; a collector that is there needs milliseconds.
const FLUSH_TIME_MAX: Duration = Duration::from_secs(5);

/// Whose spans make up a trace. Those of libraries would be many, and those of the exporter's own requests endless.
const TRACED: [&str; 4] = ["api", "runner", "builder", "registry"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    #[value(alias = "text")]
    #[serde(alias = "text")]
    Human,
    Json,
}

/// The log and the traces of a process. Dropping it leaves the log as it is and loses what is not exported yet.
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Starts logging, and exporting if there is an endpoint; for a task of the runtime that will do the exporting.
    pub fn start(directives: &str, format: LogFormat, otlp_endpoint: Option<&str>) -> anyhow::Result<Self> {
        let traces = otlp_endpoint.map(otlp::provider).transpose()?;
        let exported = traces.as_ref().map(|traces| {
            let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer("lathe"));
            let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
            layer.with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::INFO))
        });
        let log = log(format).with_filter(filter(directives)?);
        let started = tracing_subscriber::registry().with(log).with(exported).try_init();
        started.map_err(|error| anyhow::anyhow!("starting the log: {error}"))?;
        Ok(Self { traces })
    }

    /// Exports what is left.
    pub async fn end(self) {
        let Some(traces) = self.traces else { return };
        let ended = tokio::task::spawn_blocking(move || traces.shutdown_with_timeout(FLUSH_TIME_MAX)).await;
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the last spans were not exported"),
            Err(error) => tracing::warn!(%error, "the last spans were not exported"),
        }
    }
}

/// The demo prints its own lines; only what went wrong belongs between them, unless `LATHE_LOG` asks for more.
pub fn log_for_demo() -> anyhow::Result<()> {
    let directives = std::env::var("LATHE_LOG").unwrap_or_else(|_| "error".to_owned());
    Telemetry::start(&directives, LogFormat::Human, None).map(drop)
}

fn filter(directives: &str) -> anyhow::Result<EnvFilter> {
    EnvFilter::try_new(directives).map_err(|error| {
        Failure::usage(
            format!("`{directives}` is no log directive: {error}"),
            "give a level such as info, or api=debug,info",
        )
    })
}

fn log(format: LogFormat) -> Box<dyn Layer<Registry> + Send + Sync> {
    match format {
        LogFormat::Human => human::layer(std::io::stderr, is_colour_wanted()).boxed(),
        LogFormat::Json => {
            let layer = fmt::layer().with_writer(std::io::stderr).json();
            layer.flatten_event(true).with_span_list(false).boxed()
        }
    }
}

fn is_traced(metadata: &Metadata<'_>) -> bool {
    let library = metadata.target().split("::").next().unwrap_or_default();
    metadata.is_span() && TRACED.contains(&library)
}

fn is_colour_wanted() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
