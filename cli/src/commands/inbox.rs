//! `lathe inbox`: requests of runs of agents to people, and their answers.

mod answer;
mod field;
mod list;
mod request;
mod show;
mod values;
mod wait;

use clap::{Args, Subcommand};

use crate::client::Client;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct InboxArguments {
    #[command(flatten)]
    list: list::ListArguments,
    #[command(subcommand)]
    command: Option<InboxCommand>,
}

#[derive(Debug, Subcommand)]
pub enum InboxCommand {
    /// Show a request with the commands that answer it
    Show(show::ShowArguments),
    /// Answer a request, and let its run go on; the first answer counts
    Answer(answer::AnswerArguments),
}

pub async fn run(arguments: InboxArguments, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let InboxArguments { list, command } = arguments;
    match command {
        None => list::run(client, list, screen).await,
        Some(_) if list.is_given() => Err(Failure::usage(
            "only the list of requests takes filters",
            "give the filters without `show` or `answer`",
        )),
        Some(InboxCommand::Show(arguments)) => show::run(client, &arguments, screen).await,
        Some(InboxCommand::Answer(arguments)) => answer::run(client, &arguments, screen).await,
    }
}
