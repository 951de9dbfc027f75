//! `lathe agent`: agents, their tools and their revisions.

mod assign;
mod content;
mod create;
mod deploy;
mod edit;
mod intervention;
mod list;
mod prompt;
mod revisions;
mod show;
mod state;
mod tools;
mod unassign;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// Create an agent without tools
    Create(create::CreateArguments),
    /// List the agents that you see
    List(list::ListArguments),
    /// Show an agent with its draft
    Show(AgentArguments),
    /// Change an agent; a new system prompt or tool exposure changes the draft only
    Edit(edit::EditArguments),
    /// Delete an agent; its slug can be used again
    Delete(AgentArguments),
    /// Assign a tool in the draft, in place of an earlier assignment of this tool
    Assign(assign::AssignArguments),
    /// Remove a tool from the draft
    Unassign(unassign::UnassignArguments),
    /// List the tools of the running revision, also as model APIs take them, or those of the draft
    Tools(tools::ToolsArguments),
    /// Manage the states of the draft
    #[command(subcommand)]
    State(state::StateCommand),
    /// Make the draft the running revision
    Deploy(AgentArguments),
    /// List the revisions of an agent, or show one
    Revisions(revisions::RevisionsArguments),
}

#[derive(Debug, Args)]
pub struct AgentArguments {
    /// The agent's slug or id
    agent: String,
}

pub async fn run(command: AgentCommand, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        AgentCommand::Create(arguments) => create::run(client, arguments, screen).await,
        AgentCommand::List(arguments) => list::run(client, &arguments, screen).await,
        AgentCommand::Show(arguments) => show::run(client, &arguments.agent, screen).await,
        AgentCommand::Edit(arguments) => edit::run(client, arguments, screen).await,
        AgentCommand::Delete(arguments) => delete(client, &arguments.agent, screen).await,
        AgentCommand::Assign(arguments) => assign::run(client, arguments, screen).await,
        AgentCommand::Unassign(arguments) => unassign::run(client, &arguments, screen).await,
        AgentCommand::Tools(arguments) => tools::run(client, &arguments, screen).await,
        AgentCommand::State(command) => state::run(client, command, screen).await,
        AgentCommand::Deploy(arguments) => deploy::run(client, &arguments.agent, screen).await,
        AgentCommand::Revisions(arguments) => revisions::run(client, &arguments, screen).await,
    }
}

async fn delete(client: &Client, agent: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(agent).await?;
    client.delete_agent(agent.id.as_str()).await?;
    screen.answer(&json!({"id": agent.id, "slug": agent.slug}), || format!("deleted {}", agent.slug))
}
