//! `lathe agent state`: the states of the draft of an agent, which are read from files.

use agents::AgentState;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::content::build_state_row;
use crate::client::Client;
use crate::commands::not_found;
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, render_table};
use crate::text_input;

#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// Set a state in the draft, in place of an earlier state of this name
    Set(SetArguments),
    /// List the states of the draft
    List(ListArguments),
    /// Remove a state from the draft
    Unset(UnsetArguments),
}

#[derive(Debug, Args)]
pub struct SetArguments {
    /// The agent's slug or id
    agent: String,
    /// File with the state as JSON: name, type and lists of tool call specs; - for stdin
    file: String,
}

#[derive(Debug, Args)]
pub struct ListArguments {
    /// The agent's slug or id
    agent: String,
}

#[derive(Debug, Args)]
pub struct UnsetArguments {
    /// The agent's slug or id
    agent: String,
    /// The state's name
    state: String,
}

pub async fn run(client: &Client, command: StateCommand, screen: Screen) -> anyhow::Result<Outcome> {
    match command {
        StateCommand::Set(arguments) => set(client, &arguments, screen).await,
        StateCommand::List(arguments) => list(client, &arguments.agent, screen).await,
        StateCommand::Unset(arguments) => unset(client, &arguments, screen).await,
    }
}

async fn set(client: &Client, arguments: &SetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let state = read(&arguments.file)?;
    let agent = client.find_agent(&arguments.agent).await?;
    client.set_agent_state(agent.id.as_str(), &state).await?;
    screen.answer(&json!({"agent_id": agent.id, "state": state}), || {
        let (agent, name) = (&agent.slug, state["name"].as_str().unwrap_or_default());
        format!("set the state {name} in the draft of {agent}\n\nTo make the draft run:\n  lathe agent deploy {agent}")
    })
}

async fn list(client: &Client, agent: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(agent).await?;
    let states = client.list_agent_states(agent.id.as_str()).await?;
    if screen.is_json() {
        return screen.print_document(&states.document);
    }
    if states.body.states.is_empty() {
        screen.note(format!("no states; `lathe agent state set {} FILE` sets one", agent.slug));
        return Ok(Outcome::Done);
    }
    screen.print_line(render_table(["state", "type", "tools"], states.body.states.iter().map(build_state_row)))?;
    Ok(Outcome::Done)
}

async fn unset(client: &Client, arguments: &UnsetArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    let what = format!("state `{}` in the draft of {}", arguments.state, agent.slug);
    let hint = format!("`lathe agent state list {}` lists its states", agent.slug);
    not_found::name_missing(client.remove_agent_state(agent.id.as_str(), &arguments.state).await, &what, &hint)?;
    screen.answer(&json!({"agent_id": agent.id, "state": arguments.state}), || {
        format!("removed the state {} from the draft of {}", arguments.state, agent.slug)
    })
}

/// Reads a JSON object from a file, or from stdin for `-`. The server checks it.
fn read(file: &str) -> anyhow::Result<Value> {
    // Reads one byte more than all states of an agent may have, so that a longer state is refused.
    let text = text_input::read_start(file, AgentState::BYTES_MAX as u64 + 1)?;
    registry::parse_json(text.as_bytes()).map_err(|error| {
        Failure::usage(format!("{file} is not JSON: {error}"), "write one state as a JSON object with name and type")
    })
}
