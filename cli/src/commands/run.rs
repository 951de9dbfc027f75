//! `lathe run`: runs of agents.

mod follow;
mod list;
mod missing;
mod result;
mod show;
mod start;
mod trace;

use clap::{Args, Subcommand};
use serde_json::json;

pub use result::{choose_outcome, render_result};

use self::missing::name_missing;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// Start a run of an agent, and follow it until it ends or asks a person
    ///
    /// A model calls the tools of the agent until it has reached the objective. The steps are printed on stderr, the answer on
    /// stdout. The run goes on when the command is stopped; `lathe run cancel` ends it.
    Start(start::StartArguments),
    /// List runs, newest first
    List(list::ListArguments),
    /// Show a run with its answer, its question or its error
    Show(RunArguments),
    /// List the steps of a run: what the model thought and called, and what came of it
    Trace(trace::TraceArguments),
    /// Print the steps of a run until it ends or asks a person
    Follow(RunArguments),
    /// Cancel a run that goes on or waits for a person
    Cancel(RunArguments),
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// The run's id
    run: String,
}

pub async fn run(command: RunCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        RunCommand::Start(arguments) => start::run(client, arguments, screen).await,
        RunCommand::List(arguments) => list::run(client, arguments, screen).await,
        RunCommand::Show(arguments) => show::run(client, &arguments.run, screen).await,
        RunCommand::Trace(arguments) => trace::run(client, &arguments, screen).await,
        RunCommand::Follow(arguments) => follow::run(client, &arguments.run, screen).await,
        RunCommand::Cancel(arguments) => cancel(client, &arguments.run, screen).await,
    }
}

async fn cancel(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    name_missing(client.cancel_agent_run(id).await, id)?;
    screen.answer(&json!({ "agent_run_id": id }), || format!("cancelled {id}"))
}
