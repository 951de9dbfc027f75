//! `lathe demo`: the whole way from source to history, on real parts, in a temporary directory.
//!
//! A real server listens on a free loopback port, the real `git` pushes, and everything goes through the client that the commands
//! use. Nothing of the user's is read or written: login, git configuration and data lie in the temporary directory, which goes away
//! at the end, after an error, and on Ctrl-C.

mod closing;
mod git;
mod report;
mod stage;
mod steps;
mod walk;

use clap::Args;

use crate::commands::tool::Language;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::server::{self, Signals};
use report::Report;
use stage::Stage;

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Keep the server running at the end, until Ctrl-C, and print its URL and credentials
    #[arg(long)]
    keep: bool,
    /// What the tool is written in; the machine must have what builds it (`lathe doctor`)
    #[arg(long, value_enum, default_value_t)]
    language: Language,
}

pub async fn run(arguments: DemoArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let mut signals = Signals::catch()?;
    server::log_for_demo()?;
    let mut stage = Stage::prepare(arguments.language)?;
    let mut report = Report::new(screen);
    let ended = tokio::select! {
        ended = show(&mut stage, &mut report, &arguments, screen) => ended,
        signal = signals.next() => Err(interrupted(signal, &report, &arguments)),
    };
    stage.strike().await;
    match ended {
        Err(error) if is_wanted_end(&error) => Ok(Outcome::Done),
        other => other,
    }
}

async fn show(
    stage: &mut Stage,
    report: &mut Report,
    arguments: &DemoArguments,
    screen: Screen,
) -> anyhow::Result<Outcome> {
    walk::walk(stage, report).await?;
    closing::show(stage, report, arguments.keep, screen)?;
    if arguments.keep {
        stage.server_ended().await?;
    }
    Ok(Outcome::Done)
}

/// Ctrl-C is how a kept server is meant to end; before that it stops the walk.
#[derive(Debug, thiserror::Error)]
#[error("the kept server was stopped")]
struct Stopped;

fn interrupted(signal: &str, report: &Report, arguments: &DemoArguments) -> anyhow::Error {
    if arguments.keep && report.is_finished() {
        return Stopped.into();
    }
    let message = format!("{signal} during {}", report.current());
    Failure::refused(message, "nothing is left behind; `lathe demo` starts again from the beginning")
}

fn is_wanted_end(error: &anyhow::Error) -> bool {
    error.is::<Stopped>()
}
