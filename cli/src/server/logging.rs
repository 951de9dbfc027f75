//! The log: on stderr, for people or as JSON lines.

use clap::ValueEnum;
use serde::Deserialize;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    #[default]
    Human,
    Json,
}

pub fn start(directives: &str, format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(directives).map_err(|error| {
        Failure::usage(
            format!("`{directives}` is no log directive: {error}"),
            "give a level such as info, or api=debug,info",
        )
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Human => builder.with_ansi(is_colour_wanted()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("starting the log: {error}"))
}

/// The demo prints its own lines; only what went wrong belongs between them, unless `LATHE_LOG` asks for more.
pub fn log_for_demo() -> anyhow::Result<()> {
    start(&std::env::var("LATHE_LOG").unwrap_or_else(|_| "error".to_owned()), LogFormat::Human)
}

fn is_colour_wanted() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
