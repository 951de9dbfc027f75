//! The log on stderr, for people or as JSON lines, and the spans that go to a collector.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use clap::{Args, ValueEnum};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::Deserialize;
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use super::log_writer::{self, LogWriter};
use super::{human, json, otlp};
use crate::failure::Failure;

/// Time for the export of the last spans when the server ends. A reachable collector needs milliseconds.
const FLUSH_TIME_MAX: Duration = Duration::from_secs(5);

const LOG_DEFAULT: &str = "info";

/// Crates whose spans are exported. Spans of libraries would be too many, and spans of the exporter's own requests
/// would never end.
const TRACED: [&str; 8] = ["api", "api_kit", "mcp", "agents", "runner", "repository", "builder", "registry"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    #[value(alias = "text")]
    #[serde(alias = "text")]
    Human,
    Json,
}

/// The log of a server or of a build worker.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default)]
pub struct LogSettings {
    /// Log level, or directives such as builder=debug,info [default: info]
    ///
    /// The log goes to stderr. The MCP SDK, which logs several messages for each request, logs errors only unless a directive names
    /// it, such as `info,rmcp=info`.
    #[arg(long, env = "LATHE_LOG", value_name = "DIRECTIVES")]
    log: Option<String>,
    /// Format of the log on stderr [default: human]
    ///
    /// `human` (also `text`), or `json` for one JSON object a line.
    #[arg(long, env = "LATHE_LOG_FORMAT", value_enum)]
    log_format: Option<LogFormat>,
}

/// The log and the traces of a process. Dropping it writes the waiting lines and loses the spans that were not
/// exported.
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
    _log: WorkerGuard,
}

impl Telemetry {
    /// Starts the log, and the export of spans if there is an endpoint. Must be called on the runtime that exports.
    pub fn start(settings: &LogSettings, otlp_endpoint: Option<&str>) -> anyhow::Result<Self> {
        let traces = otlp_endpoint.map(otlp::build_provider).transpose()?;
        let filter = parse_filter(settings.log.as_deref().unwrap_or(LOG_DEFAULT))?;
        let (writer, _log) = log_writer::start();
        let log = build_log_layer(settings.log_format.unwrap_or_default(), writer);
        let started = match &traces {
            // One filter for all layers: a filter of a single layer is asked about each span again.
            None => tracing_subscriber::registry().with(log).with(filter).try_init(),
            Some(traces) => {
                tracing_subscriber::registry().with(log.with_filter(filter)).with(build_export_layer(traces)).try_init()
            }
        };
        started.map_err(|error| anyhow::anyhow!("starting the log: {error}"))?;
        Ok(Self { traces, _log })
    }

    /// Exports the remaining spans and writes the remaining lines.
    pub async fn end(self) {
        if let Some(traces) = self.traces {
            export_rest(traces).await;
        }
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

/// Starts the log of the demo, which prints its own lines: errors only, unless `LATHE_LOG` asks for more.
pub fn log_for_demo() -> anyhow::Result<Telemetry> {
    let directives = std::env::var("LATHE_LOG").unwrap_or_else(|_| "error".to_owned());
    Telemetry::start(&LogSettings { log: Some(directives), ..LogSettings::default() }, None)
}

/// The MCP SDK. It logs several messages for each request, which the log has only when a directive names it.
const MCP_SDK: &str = "rmcp";

fn build_export_layer<S>(traces: &SdkTracerProvider) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let layer = tracing_opentelemetry::layer().with_tracer(traces.tracer("lathe"));
    let layer = layer.with_location(false).with_threads(false).with_tracked_inactivity(false);
    layer.with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::DEBUG))
}

fn parse_filter(directives: &str) -> anyhow::Result<Targets> {
    let targets: Targets = directives.parse().map_err(|error| {
        Failure::usage(
            format!("`{directives}` is not a log directive: {error}"),
            "give a level such as info, or api=debug,info",
        )
    })?;
    let names_sdk = targets.iter().any(|(target, _)| target.starts_with(MCP_SDK));
    Ok(if names_sdk { targets } else { targets.with_target(MCP_SDK, LevelFilter::ERROR) })
}

fn build_log_layer(format: LogFormat, writer: LogWriter) -> Box<dyn Layer<Registry> + Send + Sync> {
    match format {
        LogFormat::Human => human::build_layer(writer, is_colour_wanted()).boxed(),
        LogFormat::Json => json::build_layer(writer).boxed(),
    }
}

fn is_traced(metadata: &Metadata<'_>) -> bool {
    let library = metadata.target().split("::").next().unwrap_or_default();
    metadata.is_span() && TRACED.contains(&library)
}

fn is_colour_wanted() -> bool {
    stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
