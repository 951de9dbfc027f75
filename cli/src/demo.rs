//! `lathe demo`: a guided demo from source code to run history.
//!
//! The demo runs a real server on a free loopback port, the real `git`, and the HTTP client of the commands. It neither
//! reads nor writes the user's files: login, git configuration and data are in a temporary directory, which is
//! removed at the end, after an error, and on Ctrl-C.

mod environment;
mod git;
mod next_steps;
mod report;
mod steps;

use clap::Args;
use scaffold::{TEMPLATES, Template};

use crate::commands::tool::template_parser;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::server::{self, Signals};
use environment::Environment;
use report::Report;

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Keep the server running until Ctrl-C and print its URL and credentials
    #[arg(long)]
    keep: bool,
    /// Language of the demo's tool; `lathe doctor` shows what each needs on this machine
    #[arg(long, value_parser = template_parser(), default_value = TEMPLATES[0].name)]
    language: &'static Template,
}

pub async fn run(arguments: DemoArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let mut signals = Signals::catch()?;
    let _telemetry = server::log_for_demo()?;
    let mut environment = Environment::prepare(arguments.language)?;
    let mut report = Report::new(screen);
    let ended = tokio::select! {
        ended = show(&mut environment, &mut report, arguments.keep) => ended,
        signal = signals.next() => Err(interrupted(signal, &report, &arguments)),
    };
    environment.shut_down().await;
    match ended {
        Err(error) if error.is::<Stopped>() => Ok(Outcome::Done),
        other => other,
    }
}

async fn show(environment: &mut Environment, report: &mut Report, is_kept: bool) -> anyhow::Result<Outcome> {
    steps::run_all(environment, report).await?;
    next_steps::show(environment, report, is_kept)?;
    if is_kept {
        environment.server_ended().await?;
    }
    Ok(Outcome::Done)
}

/// The regular end of a demo with `--keep`: Ctrl-C after the last step.
#[derive(Debug, thiserror::Error)]
#[error("the kept server was stopped")]
struct Stopped;

fn interrupted(signal: &str, report: &Report, arguments: &DemoArguments) -> anyhow::Error {
    if arguments.keep && report.is_finished() {
        return Stopped.into();
    }
    let message = format!("interrupted by {signal} during {}", report.current());
    Failure::refused(message, "nothing is left behind; run `lathe demo` to start again")
}
