//! `lathe conversation`: conversations with agents, their turns, and calls of the tools that a turn presents.

mod call;
mod list;
mod log;
mod start;
mod turn;

use clap::Subcommand;

use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum ConversationCommand {
    /// Start a conversation with an agent
    Start(start::StartArguments),
    /// List your conversations with an agent, newest first
    List(list::ListArguments),
    /// Show a conversation, or one of its turns with the tools that it presented
    Show(list::ShowArguments),
    /// Begin a turn, and list the tools that it presents
    Turn(turn::TurnArguments),
    /// Run a tool that a turn presented
    Call(call::CallArguments),
    /// List the calls whose results later interactions see
    Log(log::LogArguments),
    /// End a conversation: it has no more turns and calls
    End(log::EndArguments),
}

pub async fn run(command: ConversationCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        ConversationCommand::Start(arguments) => start::run(client, &arguments, screen).await,
        ConversationCommand::List(arguments) => list::run(client, &arguments, screen).await,
        ConversationCommand::Show(arguments) => list::show(client, &arguments, screen).await,
        ConversationCommand::Turn(arguments) => turn::run(client, &arguments, screen).await,
        ConversationCommand::Call(arguments) => call::run(client, &arguments, screen).await,
        ConversationCommand::Log(arguments) => log::run(client, &arguments, screen).await,
        ConversationCommand::End(arguments) => log::end(client, &arguments, screen).await,
    }
}
