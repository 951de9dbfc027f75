//! `lathe mcp config`: what to paste into the configuration of an MCP client.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::clients::{Endpoint, McpClient, Program};
use crate::failure::Outcome;
use crate::home::{CONFIG_DIRECTORY_VARIABLE, Home};
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct ConfigArguments {
    /// The agent's slug or id
    agent: String,
    /// The client
    #[arg(long, value_enum)]
    client: McpClient,
}

pub async fn run(home: &Home, arguments: &ConfigArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let client = home.build_client()?;
    let agent = client.find_agent(&arguments.agent).await?;
    // The slug of a personal agent of another user means another agent, or none.
    let is_foreign = agent.is_personal() && agent.author != client.find_user_id().await?;
    let name = if is_foreign || arguments.agent == agent.id.as_str() { agent.id.as_str() } else { &agent.slug };
    let url = client.build_mcp_url(name)?;
    let program = find_program(home)?;
    let endpoint = Endpoint { slug: &agent.slug, name, url: url.as_str(), program: &program };
    let configuration = arguments.client.render_configuration(&endpoint);
    if agent.running_revision.is_none() {
        screen.note(format!("{0} is not deployed yet: `lathe agent deploy {0}`", agent.slug));
    }
    let file = arguments.client.file();
    screen.note(format!("Paste it into {file}. {}", arguments.client.next_step()));
    let answer = json!({"url": url.as_str(), "configuration": configuration, "file": file});
    screen.answer(&answer, || configuration.clone())
}

/// This program with the present login. A client that starts it has another directory and another environment.
fn find_program(home: &Home) -> anyhow::Result<Program> {
    let path = std::env::current_exe().context("finding this program")?;
    let directory = std::env::var_os(CONFIG_DIRECTORY_VARIABLE).filter(|directory| !directory.is_empty());
    let directory = directory.map(|directory| std::path::absolute(PathBuf::from(directory))).transpose()?;
    Ok(Program { path, profile: home.profile().clone(), config_directory: directory })
}
