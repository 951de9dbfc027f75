//! The log on stderr, for people or as JSON lines, and beside it the spans that go to a collector.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::Deserialize;
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt};

use super::lines::Lines;
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

/// The log and the traces of a process. Dropping it leaves the log as it is, and loses what is not exported or a few milliseconds
/// old.
pub struct Telemetry {
    lines: Lines,
    traces: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Starts logging, and exporting if there is an endpoint; for a task of the runtime that will do the exporting.
    pub fn start(directives: &str, format: LogFormat, otlp_endpoint: Option<&str>) -> anyhow::Result<Self> {
        let traces = otlp_endpoint.map(otlp::provider).transpose()?;
        let lines = Lines::start(std::io::stderr()).context("starting the log")?;
        let (log, filter) = (log(format, lines.clone()), filter(directives)?);
        let started = match &traces {
            // What nobody wants is not even looked at; a filter of one layer alone is asked about each span again and again.
            None => tracing_subscriber::registry().with(log).with(filter).try_init(),
            Some(traces) => {
                tracing_subscriber::registry().with(log.with_filter(filter)).with(exported(traces)).try_init()
            }
        };
        started.map_err(|error| anyhow::anyhow!("starting the log: {error}"))?;
        Ok(Self { lines, traces })
    }

    /// Writes and exports what is left.
    pub async fn end(self) {
        if let Some(traces) = self.traces {
            export_rest(traces).await;
        }
        self.lines.flush();
    }
}

async fn export_rest(traces: SdkTracerProvider) {
    let ended = tokio::task::spawn_blocking(move || traces.shutdown_with_timeout(FLUSH_TIME_MAX)).await;
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the last spans were not exported"),
        Err(error) => tracing::warn!(%error, "the last spans were not exported"),
    }
}

/// The demo prints its own lines; only what went wrong belongs between them, unless `LATHE_LOG` asks for more.
pub fn log_for_demo() -> anyhow::Result<()> {
    let directives = std::env::var("LATHE_LOG").unwrap_or_else(|_| "error".to_owned());
    Telemetry::start(&directives, LogFormat::Human, None).map(drop)
}

fn exported<S>(traces: &SdkTracerProvider) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer("lathe"));
    let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
    layer.with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::DEBUG))
}

fn filter(directives: &str) -> anyhow::Result<Targets> {
    directives.parse().map_err(|error| {
        Failure::usage(
            format!("`{directives}` is no log directive: {error}"),
            "give a level such as info, or api=debug,info",
        )
    })
}

fn log(format: LogFormat, lines: Lines) -> Box<dyn Layer<Registry> + Send + Sync> {
    match format {
        LogFormat::Human => human::layer(lines, is_colour_wanted()).boxed(),
        LogFormat::Json => {
            let layer = fmt::layer().with_writer(lines).json();
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
