//! `lathe agent unassign`: removes a tool from the draft of an agent.

use clap::Args;
use registry::ToolId;
use serde_json::json;

use crate::client::Client;
use crate::commands::{completion, not_found};
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct UnassignArguments {
    /// The agent's slug or id
    agent: String,
    /// The tool's name or id
    #[arg(add = completion::complete_tools())]
    tool: String,
}

pub async fn run(client: &Client, arguments: &UnassignArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    let tool = match ToolId::parse(&arguments.tool) {
        // A draft may have the id of a tool that does not exist.
        Ok(id) => id.into(),
        Err(_) => client.find_tool_of_records(&arguments.tool).await?.id,
    };
    let hint = format!("`lathe agent show {}` shows its tools", agent.slug);
    let what = format!("assignment of `{}` in the draft of {}", arguments.tool, agent.slug);
    not_found::name_missing(client.unassign_tool(agent.id.as_str(), &tool).await, &what, &hint)?;
    screen.answer(&json!({"agent_id": agent.id, "tool_id": tool}), || {
        format!("removed {} from the draft of {}", arguments.tool, agent.slug)
    })
}
