//! `lathe agent create`: creates an agent.

use clap::Args;
use serde_json::json;

use super::prompt;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct CreateArguments {
    /// Name of the agent in URLs: lower-case letters, digits and -, at most 64 characters
    slug: String,
    /// What the agent does
    #[arg(long)]
    description: String,
    /// Name of the agent for people [default: the slug]
    #[arg(long)]
    name: Option<String>,
    /// Kind of agent, which never changes
    #[arg(long = "type", default_value = "agent", value_parser = ["agent", "mcp_gateway", "profile"])]
    agent_type: String,
    /// Users who see the agent: you and administrators, or the whole organisation
    #[arg(long, default_value = "personal", value_parser = ["personal", "organization"])]
    scope: String,
    /// Tools that the model sees: all of them, or a search for tools
    #[arg(long, default_value = "full", value_parser = ["full", "search"])]
    tool_exposure: String,
    /// File with the system prompt; - for stdin
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<String>,
}

pub async fn run(client: &Client, arguments: CreateArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let CreateArguments { slug, description, name, agent_type, scope, tool_exposure, prompt_file } = arguments;
    let mut agent = json!({
        "slug": slug, "description": description, "name": name.as_ref().unwrap_or(&slug), "agent_type": agent_type,
        "scope": scope, "tool_exposure": tool_exposure,
    });
    if let Some(file) = prompt_file {
        agent["system_prompt"] = json!(prompt::read(&file)?.as_str());
    }
    let id = client.create_agent(agent).await?;
    let text = || format!("created {slug} ({id})\n\nTo give it a tool:\n  lathe agent assign {slug} TOOL");
    screen.answer(&json!({"id": id, "slug": slug}), text)
}
