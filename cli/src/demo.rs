//! `lathe demo`: a guided demo from source code to run history.
//!
//! The demo runs a real server on a free loopback port, the real `git`, and the HTTP client of the commands. With `--login`
//! it uses the server of the user's login instead. It writes none of the user's files: login, git configuration and data are
//! in a temporary directory, which is removed at the end, after an error, and on Ctrl-C.

mod environment;
mod git;
mod next_steps;
mod place;
mod report;
mod steps;

use clap::Args;
use nix::sys::signal::Signal;
use scaffold::{TEMPLATES, Template};

use crate::failure::{Failure, Outcome};
use crate::home::{Home, ProfileName};
use crate::output::Screen;
use crate::projects::build_template_parser;
use crate::server::{self, Signals};
use environment::Environment;
use place::Place;
use report::DemoReport;

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Keep the server running until Ctrl-C and print its URL and credentials
    #[arg(long)]
    keep: bool,
    /// Use the server and the organisation of your login instead of a temporary server; the tool and its records stay there
    #[arg(long, conflicts_with = "keep")]
    login: bool,
    /// Language of the demo's tool; `lathe doctor` shows what each needs on this machine
    #[arg(long, value_parser = build_template_parser(), default_value = TEMPLATES[0].name)]
    language: &'static Template,
}

pub async fn run(arguments: DemoArguments, profile: Option<ProfileName>, screen: Screen) -> anyhow::Result<Outcome> {
    let mut signals = Signals::catch()?;
    let _telemetry = server::log_for_demo()?;
    let login = match arguments.login {
        true => Some(Home::of_user(profile)?.build_client()?.identify_credentials().await?),
        false => None,
    };
    let mut environment = Environment::prepare(arguments.language)?;
    let mut report = DemoReport::new(screen);
    let ended = tokio::select! {
        ended = show(&mut environment, &mut report, Place::of(login, arguments.keep)) => ended,
        signal = signals.next() => Err(explain_interrupt(signal, &report, &arguments)),
    };
    environment.shut_down().await;
    match ended {
        Err(error) if error.is::<Stopped>() => Ok(Outcome::Done),
        other => other,
    }
}

async fn show(environment: &mut Environment, report: &mut DemoReport, place: Place) -> anyhow::Result<Outcome> {
    let is_kept = matches!(place, Place::Kept);
    match &place {
        Place::Existing(login) => steps::sign_in(environment, report, login).await?,
        Place::Temporary | Place::Kept => steps::start_server(environment, report).await?,
    }
    steps::run_from_source_to_history(environment, report).await?;
    next_steps::show(environment, report, &place)?;
    if is_kept {
        environment.wait_for_server_end().await?;
    }
    Ok(Outcome::Done)
}

/// The regular end of a demo with `--keep`: Ctrl-C after the last step.
#[derive(Debug, thiserror::Error)]
#[error("the kept server was stopped")]
struct Stopped;

fn explain_interrupt(signal: Signal, report: &DemoReport, arguments: &DemoArguments) -> anyhow::Error {
    if arguments.keep && report.is_finished() {
        return Stopped.into();
    }
    let message = format!("interrupted by {signal} during {}", report.current());
    let remedy = if arguments.login {
        "the organisation has what the steps before have made there"
    } else {
        "nothing is left behind; run `lathe demo` to start again"
    };
    Failure::refused(message, remedy)
}
