//! `lathe mcp config`: what to paste into the configuration of an MCP client.

use clap::Args;
use serde_json::json;

use super::clients::{Endpoint, McpClient};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// The agent's slug or id
    agent: String,
    /// The client
    #[arg(long, value_enum)]
    client: McpClient,
}

pub async fn run(client: &Client, arguments: &ConfigArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    // The slug of a personal agent of another user means another agent, or none.
    let is_foreign = agent.is_personal() && agent.author != client.credentials().user_id;
    let url = client.mcp_url(if is_foreign || arguments.agent == agent.id { &agent.id } else { &agent.slug })?;
    let endpoint = Endpoint { slug: &agent.slug, url: url.as_str() };
    let configuration = arguments.client.configuration(&endpoint);
    if agent.running_revision.is_none() {
        screen.note(format!("{0} is not deployed yet: `lathe agent deploy {0}`", agent.slug));
    }
    screen.note(arguments.client.next_step());
    let answer = json!({"url": url.as_str(), "configuration": configuration});
    screen.answer(&answer, || configuration.clone())
}
