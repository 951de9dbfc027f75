//! `lathe mcp`: MCP clients and the agents that are their servers.

mod bridge;
mod clients;
mod config;
mod serve;

use clap::{Args, Subcommand};

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Print the configuration of an MCP client for an agent
    ///
    /// The client sends an API key. A client that signs in by OAuth needs only the URL of the agent.
    Config(config::ConfigArguments),
    /// Serve an agent to a client that starts a process and speaks over its standard input and output
    ///
    /// Messages go to the server of the login, with the credentials of the login. Nothing but messages is written to the standard
    /// output.
    Serve(ServeArguments),
}

#[derive(Debug, Args)]
pub struct ServeArguments {
    /// The agent's slug or id
    agent: String,
    /// Speak over standard input and output, which is the only transport
    #[arg(long)]
    stdio: bool,
}

pub async fn run(command: McpCommand, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        McpCommand::Config(arguments) => config::run(home, &arguments, screen).await,
        McpCommand::Serve(arguments) => serve::run(&home.build_client()?, &arguments.agent).await,
    }
}
